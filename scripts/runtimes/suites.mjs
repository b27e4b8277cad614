import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const vitest = `${root}node_modules/vitest/vitest.mjs`;

/** Runs vitest with a reporter that prints little more than failures. */
const tests = (folder, ...files) => [
  vitest,
  "run",
  "--reporter=dot",
  "--root",
  `${root}${folder}`,
  ...files,
];

/** The tests of the core that depend most on the runtime. */
const contracts = ["engine-contract", "kv-contract", "value-"];
/** Those that start processes and workers. */
const processes = ["attached-contract", "deno-worker"];

/**
 * Returns those suites of a runtime that CI runs. Versions of Node.js differ little: the newest one
 * has the packed packages and other processes, as the oldest one has in other scripts, and each has
 * the contract suites.
 */
export function mainSuites(name, folder, packed) {
  const isBetween = name === "node22" || name === "node24";
  const files = isBetween ? contracts : [...contracts, ...processes];
  const core = { name: "contracts of the core", args: tests("packages/core", ...files) };
  const [, packedWalk, _cities, ...others] = suites(folder, packed);
  if (name === "deno" || name === "bun") return [core, packedWalk, ...others];
  return name === "node26" ? [core, packedWalk] : [core];
}

/**
 * Returns the suites that depend on the runtime: arguments, environment, and what each must print.
 *
 * @param folder an empty folder for one runtime.
 * @param packed a folder in which the packed packages are installed.
 */
export function suites(folder, packed) {
  return [
    // The longest come first, so that none of them runs alone at the end.
    { name: "core", args: tests("packages/core") },
    {
      name: "packed walk",
      args: tests("packages/codegen", "packed.test.ts"),
      env: { KEYWRIGHT_PACKED: packed },
    },
    // Once to its end. `npm test` tests that it can be stopped and killed.
    {
      name: "example cities",
      args: [`${root}examples/cities/dist/main.js`, folder],
      prints: /135,233 rows indexed .*Shanghai/s,
    },
    { name: "sqlite", args: tests("packages/sqlite", "engine-contract", "orm-suite") },
    {
      name: "orm",
      args: tests(
        "packages/orm",
        "orm-suite",
        "live.test",
        "transaction-kv",
        "jobs.test",
        "job-runs",
      ),
    },
    { name: "cron", args: tests("packages/cron", "crons.test") },
    { name: "example migrations", args: tests("examples/migrations") },
    { name: "example blog", args: tests("examples/blog") },
    { name: "example shop", args: tests("examples/shop", "shop.test") },
    { name: "example users", args: tests("examples/users") },
  ];
}

/** Deno's own client of a server, which only its own runtime has. */
export const denoClient = {
  name: "Deno.openKv of a server",
  args: tests("packages/server", "deno-runtime"),
};

/** A script that runs the contracts in a Durable Object. Miniflare needs Node.js 22. */
export const inWorkerd = `${root}packages/sqlite/test/durable-object/run-in-workerd.mjs`;

/** A script that writes a database for other runtimes, and reads theirs. */
export const goldenDatabase = `${root}packages/core/test/golden-database.mjs`;

/** A script that packs the packages and installs them in a folder. */
export const installPacked = `${root}packages/codegen/test/install-packed.mjs`;

/** A script that copies a file of Deno KV in Deno, with the commands of docs/from-deno-kv.md. */
export const copyInDeno = `${root}packages/codegen/test/copy-in-deno.mjs`;

/** The entry points that a version of Node.js that is too old must refuse with one sentence. */
export const entryPoints = [
  [`${root}scripts/check-node.cjs`],
  [`${root}packages/codegen/bin/keywright.js`, "--version"],
  [`${root}packages/core/dist/index.js`],
];
