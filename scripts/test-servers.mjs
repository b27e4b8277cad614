// `npm run test:servers`: runs the tests of the ORM on etcd, PostgreSQL, LMDB and SQLite, through a
// server, and attached to another process. Takes many minutes.
// `npm run test:servers -- lease backfill` runs the files with these words in their names.
// `npm run test:servers -- --main` runs the files that matter most on a server, as CI does.
import { fileURLToPath } from "node:url";
import { runTasks } from "./run-tasks.mjs";
import { nodeWithSqlite } from "./with-sqlite.mjs";

/** Runs that change databases, which crash at each of their commits. */
const longRuns = ["migrate", "interrupted-transform", "copies-and-pointers"];
/** Chosen so that CI does not take long: the slow files of the ORM are not among them. */
const main = [
  ...longRuns,
  ...[
    "backfill",
    "lease",
    "races",
    "writes",
    "counters",
    "live",
    "live-search",
    "turns",
    "anomalies",
  ],
];
/**
 * Fewer for places that differ less from others. A server speaks the protocol of attached processes,
 * which have all of these files. The files of LMDB and SQLite are read and written in the process
 * itself; long runs that change databases commit there as they do in memory.
 */
const mainOf = {
  server: ["backfill", "races", "writes", "live"],
  // etcd and attached processes have the live searches.
  postgres: main.filter((name) => name !== "live-search"),
  lmdb: main.filter((name) => !longRuns.includes(name)),
  sqlite: main.filter((name) => !longRuns.includes(name)),
};
/** The packages with the configurations. The longest come first. */
const folders = {
  "on etcd": "etcd",
  "on PostgreSQL": "postgres",
  "through a server": "server",
  "attached to another process": "core",
  "on LMDB": "lmdb",
  "on SQLite": "sqlite",
};
/** Runs at the same time. Each of them waits for its server for half of its time. */
const runsAtOnce = 2;
const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));

const names = process.argv.slice(2);
const isMain = names.includes("--main");
await runTasks(Object.entries(folders).map(taskOf), runsAtOnce);

/** Returns words in the names of the files to run with the configuration of a package. */
function chosenFiles(folder) {
  if (!isMain) return names;
  return (mainOf[folder] ?? main).map((name) => `/${name}.test.ts`);
}

/** Returns the run of the chosen tests with the configuration of a package. */
function taskOf([where, folder]) {
  const config = fileURLToPath(
    new URL(`../packages/${folder}/vitest.orm.config.ts`, import.meta.url),
  );
  return {
    title: `The tests of the ORM ${where}`,
    program: folder === "sqlite" ? nodeWithSqlite() : process.execPath,
    args: [vitest, "run", "--config", config, "--reporter=dot", ...chosenFiles(folder)],
  };
}
