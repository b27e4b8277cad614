// Prints commits per second by how many are in flight: node bench/commits.mjs postgres://user@host/database
import { availableParallelism, loadavg } from "node:os";
import { openKv } from "@keywright/core";
import { postgresEngine } from "../dist/index.js";

const [connectionString, seconds = "3"] = process.argv.slice(2);
if (connectionString === undefined) {
  console.error("Usage: node bench/commits.mjs postgres://user@host:port/database [seconds]");
  process.exit(1);
}
const kv = await openKv(await postgresEngine({ connectionString, prefix: "keywright_bench" }));

async function rate(inFlight, commit) {
  const start = performance.now();
  const end = start + Number(seconds) * 1000;
  let commits = 0;
  const worker = async (name) => {
    for (let n = 0; performance.now() < end; n++) {
      await commit(`${start}:${name}:${n}`);
      commits++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, i) => worker(i)));
  return Math.round((commits / (performance.now() - start)) * 1000);
}

const works = {
  "one set": (id) => kv.set(["one", id], { id }),
  "a check, three entries and a counter": (id) =>
    kv
      .atomic()
      .check({ key: ["row", id], versionstamp: null })
      .set(["row", id], { id, name: "Ada" })
      .set(["by_name", "Ada", id], id)
      .set(["by_id", id], id)
      .sum(["count"], 1n)
      .commit(),
  "a read": (id) => kv.get(["one", id]),
};
console.log(`${availableParallelism()} cores, load average ${loadavg()[0].toFixed(1)}`);
for (const [name, work] of Object.entries(works)) {
  for (const inFlight of [1, 64, 256, 1024]) {
    console.log(`${name}, ${inFlight} in flight: ${await rate(inFlight, work)} a second`);
  }
}
await kv.close();
