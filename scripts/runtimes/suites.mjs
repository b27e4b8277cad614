import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const vitest = `${root}node_modules/vitest/vitest.mjs`;

/**
 * Prints one character for a test that passes, so that the output of a failed run is about its
 * failures.
 */
const tests = (folder, ...files) => [
  vitest,
  "run",
  "--reporter=dot",
  "--root",
  `${root}${folder}`,
  ...files,
];

/**
 * What depends on the runtime: the script that runs it, with its arguments, and what it has to
 * print.
 *
 * @param folder an empty folder for one runtime.
 * @param packed a folder in which the packed packages are installed.
 */
export function suites(folder, packed) {
  return [
    // The longest first, so that none of them is left for the end.
    { name: "core", args: tests("packages/core"), env: { KEYWRIGHT_KILLS: "10" } },
    {
      name: "packed walk",
      args: tests("packages/codegen", "packed.test.ts"),
      env: { KEYWRIGHT_PACKED: packed },
    },
    // Once to its end. That it can be stopped and killed is tested by `npm test`.
    {
      name: "example cities",
      args: [`${root}examples/cities/dist/main.js`, folder],
      prints: /135,233 rows indexed .*Shanghai/s,
    },
    { name: "orm", args: tests("packages/orm", "orm-suite", "live.test", "transaction-kv") },
    { name: "example migrations", args: tests("examples/migrations") },
    { name: "example blog", args: tests("examples/blog") },
    { name: "example users", args: tests("examples/users") },
  ];
}

/** Writes databases for other runtimes, and reads theirs. */
export const goldenDatabase = `${root}packages/core/test/golden-database.mjs`;

/** Packs the packages and installs them in a folder. */
export const installPacked = `${root}packages/codegen/test/install-packed.mjs`;

/** What a Node.js that is too old must answer with one sentence. */
export const entryPoints = [
  [`${root}scripts/check-node.cjs`],
  [`${root}packages/codegen/bin/keywright.js`, "--version"],
  [`${root}packages/core/dist/index.js`],
];
