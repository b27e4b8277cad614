import { percent } from "./summary.mjs";

export const about = {
  title: "The tests",
  promise: "If a change of the sources breaks one of these promises, a test fails.",
  method:
    "Stryker changes a random sample of the functions that encode keys and values, commit, keep indexes, plan queries, run transactions, keep the catalog, maintain aggregates and migrate: it removes statements, inverts conditions, and replaces operators and constants. After each change, the tests that reach it are run.",
  limits:
    "Some changes cannot be noticed, because they change nothing but the speed: the short ways of encoding plain keys and values may give up at any time, since the general way gives the same bytes, and a buffer may be larger than it has to be. The changes that no test noticed are listed below with the reason, as far as the run of their area recorded them.",
  command: "npm run soak:mutation -- --fraction 0.1",
  goals: [
    {
      unit: "% of the changes noticed",
      asked: 85,
      ran: (figures) =>
        Number.parseFloat(percent(sum(figures, "noticed"), sum(figures, "changes"))),
      isOneRun: true,
    },
  ],
};

function sum(figures, name) {
  return Object.values(figures).reduce((total, area) => total + area[name], 0);
}
