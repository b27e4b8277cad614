export const about = {
  title: "The tests",
  promise: "If a change of the sources breaks one of these promises, a test fails.",
  method:
    "Stryker changes a random sample of the functions that encode keys and values, commit, keep indexes and migrate: it removes statements, inverts conditions, and replaces operators and constants. After each change, the tests that reach it are run. Some changes cannot be noticed, because they change nothing but the speed: the short ways of encoding plain keys and values may give up at any time, since the general way gives the same bytes, and a buffer may be larger than it has to be.",
  command: "npm run soak:mutation -- --fraction 0.1",
};
