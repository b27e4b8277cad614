// Prints the operations per second and latencies of models on each engine, and what the cost model
// predicts. The tables are those of docs/scaling.md.
//
//   npm run bench:engines -- --etcd http://127.0.0.1:2379 \
//     --postgres postgres://postgres@127.0.0.1/postgres
//
// An engine without a URL is left out, and so is SQLite on Node.js 20. --rows and --seconds change
// the size and the time.
import { mkdtemp, rm } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openKv as openDenoKv } from "@deno/kv";
import { openKv } from "@keywright/core";
import { etcdEngine } from "@keywright/etcd";
import { postgresEngine } from "@keywright/postgres";
import { sqliteEngine } from "@keywright/sqlite";
import { countedEngine } from "./counted-engine.mjs";
import { measureEngine } from "./measure-engine.mjs";
import { printTables } from "./print-tables.mjs";

const { values } = parseArgs({
  options: {
    etcd: { type: "string", multiple: true, default: [] },
    postgres: { type: "string", multiple: true, default: [] },
    rows: { type: "string", default: "10000" },
    seconds: { type: "string", default: "2" },
  },
});

const folder = await mkdtemp(join(tmpdir(), "keywright-bench-"));
const prefix = `bench_${process.pid}`;

/** Functions that open a database, by the name of the engine. */
const engines = {
  memory: async () => ({ kv: await openKv() }),
  LevelDB: async () => ({ kv: await openKv(join(folder, "level")) }),
  ...(isBuiltin("node:sqlite") && {
    SQLite: async () => ({
      kv: await openKv(await sqliteEngine({ path: join(folder, "data.sqlite") })),
    }),
  }),
  "Deno KV (SQLite)": async () => ({ kv: await openDenoKv(join(folder, "deno.sqlite")) }),
};
for (const endpoints of values.etcd.map((text) => text.split(","))) {
  engines[`etcd, ${endpoints.length === 1 ? "1 member" : `${endpoints.length} members`}`] = () =>
    openCounted(etcdEngine({ endpoints, prefix, deadline: 30_000 }));
}
for (const [i, connectionString] of values.postgres.entries()) {
  engines[i === 0 ? "PostgreSQL" : `PostgreSQL ${i + 1}`] = () =>
    openCounted(postgresEngine({ connectionString, prefix }));
}

async function openCounted(opening) {
  const { engine, counts } = countedEngine(await opening);
  return { kv: await openKv(engine), counts };
}

const options = { rows: Number(values.rows), seconds: Number(values.seconds) };
const results = [];
try {
  for (const [name, open] of Object.entries(engines)) {
    const { kv, counts } = await open();
    try {
      console.error(`${name} …`);
      results.push({ name, ...(await measureEngine(kv, counts, options)) });
    } finally {
      await kv.close();
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
const [{ model }] = cpus();
console.log(
  `Node.js ${process.version}, ${cpus().length} × ${model}, load ${loadavg()[0].toFixed(1)}\n`,
);
printTables(results);
