import { countsOf } from "./fault-table.mjs";
import { faults } from "./faults/faults.mjs";

export const about = {
  title: "Planted faults",
  promise: "If the engine, the log or a model has a fault, one of these campaigns finds it.",
  method:
    "A build is broken on purpose, in one place at a time: a check that is not made, an fsync that is left out, a count that is not kept. The edit is made while the module is loaded, in all processes of a run, so no file changes. Then the campaigns that reach the code run as they always do, each within a bound, until one of them reports a problem. A fault that none of them finds shows what they do not look at. An edit that no longer fits the sources is an error, which `npm test` notices.",
  short: "two of the faults",
  command: "npm run soak:planted",
  goals: [
    {
      unit: "faults found",
      asked: Object.keys(faults).length,
      ran: (figures) => countsOf(figures).found,
      isOneRun: true,
    },
  ],
};
