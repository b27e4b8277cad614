const sum = (figures, name) =>
  Object.values(figures.suites).reduce(
    (all, { compat, connect }) => all + compat[name] + connect[name],
    0,
  );

export const about = {
  title: "The tests of Deno and denokv",
  promise:
    'The tests that Deno and denokv have for their own databases pass with Keywright: with `compat: "deno"`, and with a server to which Deno\'s own client connects. Those that fail are listed with their reasons.',
  method:
    "The tests are those of a release, and are downloaded for a run, with their checksums verified: `tests/unit/kv_test.ts` of Deno, and `npm/src/e2e.ts` of denokv, which is one long test. They run in Deno. `Deno.openKv` opens a database of Keywright in the same process, or connects to a new server of Keywright, to which a path that tests open several times belongs. Their assertions are those of Node.js under the names of Deno's standard library. A test that fails without a reason, and one that passes in spite of it, is an error.",
  limits:
    "denokv's two tests in Rust are not run, because they need a build of its client. A workflow of the repository runs all of this every week.",
  command: "npm run soak:deno-suites",
  goals: [
    {
      unit: "tests passed",
      asked: 329,
      ran: (figures) => sum(figures, "passed"),
      isOneRun: true,
    },
  ],
};
