// Prints how long each of many clients waits that change the same few rows: the times in
// milliseconds, and "others", how many calls of other clients of the same process end during a call
// (p99). The figures are those of docs/transactions.md.
//
//   npm run bench:contention -- --etcd http://127.0.0.1:2379 \
//     --postgres postgres://postgres@127.0.0.1/postgres
//
// An engine without a URL is left out. --loads 64/4,16/16 (clients and processes), --rows 20 and
// --seconds change the load, --engines memory,LMDB and --work transfer,increment choose a part.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openToBench } from "./open-to-bench.mjs";

const { values } = parseArgs({
  options: {
    etcd: { type: "string" },
    postgres: { type: "string" },
    engines: { type: "string" },
    loads: { type: "string", default: "24/1,24/4,64/1,64/4,16/16" },
    rows: { type: "string", default: "20" },
    seconds: { type: "string", default: "3" },
    work: { type: "string", default: "transfer,increment" },
  },
});

const folder = await mkdtemp(join(tmpdir(), "keywright-contention-"));
const prefix = `contention_${process.pid}`;
/** Where each engine has its database, and if several processes can use it. */
const engines = {
  memory: { kind: "memory", isAlone: true },
  LevelDB: { kind: "folder", path: join(folder, "level") },
  LMDB: { kind: "lmdb", path: join(folder, "app.mdb") },
  SQLite: { kind: "sqlite", path: join(folder, "app.sqlite") },
  ...(values.etcd && { etcd: { kind: "etcd", path: values.etcd, prefix } }),
  ...(values.postgres && { PostgreSQL: { kind: "postgres", path: values.postgres, prefix } }),
};
const program = fileURLToPath(new URL("contending-clients.mjs", import.meta.url));
const loads = values.loads.split(",").map((load) => load.split("/").map(Number));
const rows = Number(values.rows);

console.log(`${cpus().length} × ${cpus()[0].model}, load ${loadavg()[0].toFixed(1)}\n`);
console.log(
  "| engine | clients | processes | work | a second | median | p99 | × | longest | others | failed |",
);
console.log(`| --- |${" ---: |".repeat(2)} --- |${" ---: |".repeat(7)}`);
try {
  for (const [name, place] of Object.entries(engines)) {
    if (values.engines !== undefined && !values.engines.split(",").includes(name)) continue;
    for (const work of values.work.split(","))
      for (const [clients, processes] of loads)
        if (!place.isAlone || processes === 1) await measure(name, place, work, clients, processes);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

/**
 * Prints the line of one load. Processes that use a folder or a file after the first are attached.
 */
async function measure(name, place, work, clients, processes) {
  const first = place.isAlone ? undefined : await openToBench(place, rows);
  // The owner of a folder works too, so that one process is not attached.
  await first?.kv.close();
  const load = { place, rows, work, clients: clients / processes, seconds: Number(values.seconds) };
  const children = [];
  try {
    for (let i = 0; i < processes; i++) {
      const child = fork(program, [JSON.stringify(load)]);
      children.push(child);
      await once(child, "message");
    }
    const results = await Promise.all(
      children.map(async (child) => {
        child.send("begin");
        return (await once(child, "message"))[0];
      }),
    );
    const sorted = (of) => results.flatMap((result) => result[of]).sort((a, b) => a - b);
    const partOf = (values, part) => values[Math.floor(values.length * part)];
    const times = sorted("times");
    const others = partOf(sorted("overtaken"), 0.99);
    const failed = results.reduce((sum, result) => sum + result.failed, 0);
    const [median, p99] = [partOf(times, 0.5), partOf(times, 0.99)];
    const rate = times.length / Math.max(...results.map((result) => result.seconds));
    const cells = [
      ...[name, clients, processes, work, Math.round(rate)],
      ...[median, p99].map((time) => time.toFixed(2)),
      ...[(p99 / median).toFixed(1), times.at(-1).toFixed(1), others, failed],
    ];
    console.log(`| ${cells.join(" | ")} |`);
  } finally {
    for (const child of children.reverse()) {
      if (child.exitCode !== null) continue;
      child.disconnect();
      await once(child, "exit");
    }
  }
}
