// Prints commits per second on a server of its own, with fsync, by how many are in flight.
import { openKv } from "@keywright/core";
import { postgresEngine } from "../dist/index.js";

const connectionString = process.argv[2];
if (connectionString === undefined) {
  console.error("Usage: node bench/commits.mjs postgres://user@host:port/database");
  process.exit(1);
}
const kv = await openKv(await postgresEngine({ connectionString, prefix: "keywright_bench" }));
const seconds = 3;

async function rate(inFlight, commit) {
  const end = performance.now() + seconds * 1000;
  let commits = 0;
  const worker = async (name) => {
    for (let n = 0; performance.now() < end; n++) {
      await commit(`${inFlight}:${name}:${n}`);
      commits++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, i) => worker(i)));
  return Math.round(commits / seconds);
}

const works = {
  "one set": (id) => kv.set(["one", id], { id }),
  "a row, two entries and a counter": (id) =>
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
for (const [name, work] of Object.entries(works)) {
  for (const inFlight of [1, 16, 64]) {
    console.log(`${name}, ${inFlight} in flight: ${await rate(inFlight, work)} a second`);
  }
}
await kv.close();
