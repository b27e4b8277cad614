// Kills processes that enqueue and run jobs: `npm run soak:jobs -- --jobs 1000000 --kills 100`, and
// a tenth of both on each other engine. `--engine SQLite` runs on one only, and writes no results.
// Exits with 1 if a job was lost, committed twice or counted wrong.
import { isBuiltin } from "node:module";
import { parseArgs } from "node:util";
import { EtcdCluster } from "../../packages/etcd/test/server/etcd-cluster.mjs";
import { Random } from "../shared/random.mjs";
import { hasEtcd, hasPostgres, startPostgres } from "../shared/servers.mjs";
import { writeResults } from "../shared/write-results.mjs";
import { runJobs } from "./jobs-run.mjs";
import { orderProblems } from "./priority-run.mjs";

const { values } = parseArgs({
  options: {
    jobs: { type: "string", default: "1000000" },
    kills: { type: "string", default: "100" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    engine: { type: "string" },
  },
});
/** The name of the file or folder, or a function that starts the server. */
const engines = {
  LevelDB: "kv",
  LMDB: "kv.mdb",
  SQLite: "kv.sqlite",
  etcd: startEtcd,
  PostgreSQL: startOnPostgres,
};
const isAvailable = { SQLite: isBuiltin("node:sqlite"), etcd: hasEtcd, PostgreSQL: hasPostgres };
const figures = { jobs: {}, kills: {}, refused: 0, repeated: 0, latest: 0, problems: 0 };

for (const [i, [engine, place]] of Object.entries(engines).entries()) {
  if (values.engine !== undefined && values.engine !== engine) continue;
  if (isAvailable[engine] === false) {
    console.log(`No run on ${engine}: this machine or this Node.js does not have it.`);
    continue;
  }
  const share = engine === "LevelDB" || values.engine !== undefined ? 1 : 10;
  const [jobs, kills] = [Number(values.jobs) / share, Number(values.kills) / share];
  const random = new Random(Number(values.seed) + i);
  const server = typeof place === "string" ? undefined : await place();
  try {
    const run = await runJobs({ name: server?.where ?? place, jobs, kills, random });
    console.log(`${engine}: ${run.jobs} jobs, ${run.kills} kills, ${Math.round(run.seconds)} s`);
    figures.jobs[engine] = run.jobs;
    figures.kills[engine] = run.kills;
    figures.refused += run.refused;
    figures.repeated += run.repeated;
    report(engine, run.problems);
  } finally {
    await server?.stop();
  }
}
const { latest, problems } = await orderProblems({ jobs: 2000 });
figures.latest = latest;
report("priorities", problems);

const sum = (counts) => Object.values(counts).reduce((all, count) => all + count, 0);
const parts = Object.entries(figures.jobs).map(
  ([engine, jobs]) =>
    `${jobs.toLocaleString("en-US")} jobs and ${figures.kills[engine]} kills on ${engine}`,
);
const summary =
  `${parts.join(", ")}: ${figures.problems} lost, committed twice or counted wrong; ` +
  `${figures.refused} failed for good and are in the list, and ${figures.repeated} of those that ` +
  `commit by themselves ran again`;
if (values.engine === undefined && sum(figures.jobs) > 0) writeResults("jobs", figures, summary);
else console.log(summary);
if (figures.problems > 0) process.exitCode = 1;

function report(what, problems) {
  for (const problem of problems.slice(0, 20))
    console.error(`${what}, seed ${values.seed}: ${problem}`);
  figures.problems += problems.length;
}

async function startEtcd() {
  const cluster = await EtcdCluster.start(1);
  return { where: { etcd: { endpoints: cluster.endpoints } }, stop: () => cluster.stop() };
}

async function startOnPostgres() {
  const server = await startPostgres();
  const where = { postgres: { connectionString: server.url } };
  return { where, stop: () => server.remove() };
}
