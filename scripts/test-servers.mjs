// `npm run test:servers`: runs the tests of the ORM on etcd, PostgreSQL and LMDB, through a server, and
// attached to another process. Takes many minutes.
// `npm run test:servers -- lease backfill` runs the files with these words in their names.
// `npm run test:servers -- --main` runs the files that matter most on a server, as CI does.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** Chosen so that CI does not take long: the slow files of the ORM are not among them. */
const main = [
  ...["migrate", "backfill", "lease", "interrupted-transform", "replace-index", "races"],
  ...["writes", "counters", "live"],
];
/** The packages with the configurations. */
const folders = {
  "on etcd": "etcd",
  "on PostgreSQL": "postgres",
  "on LMDB": "lmdb",
  "through a server": "server",
  "attached to another process": "core",
};
const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));

const names = process.argv.slice(2);
const chosen = names.includes("--main") ? main.map((name) => `/${name}.test.ts`) : names;
const results = [];
for (const [where, folder] of Object.entries(folders)) {
  const config = fileURLToPath(
    new URL(`../packages/${folder}/vitest.orm.config.ts`, import.meta.url),
  );
  console.log(`The tests of the ORM ${where}:`);
  const args = [vitest, "run", "--config", config, "--reporter=dot", ...chosen];
  results.push(await once(spawn(process.execPath, args, { stdio: "inherit" }), "exit"));
}
process.exitCode = results.every(([code]) => code === 0) ? 0 : 1;
