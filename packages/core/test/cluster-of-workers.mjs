// Forks workers of `node:cluster` that open the folder of the first argument with the default
// options and add to a sum. Kills the owner of the folder, without another in its place, until one
// worker is left. Prints how many commits the workers counted, and what is stored.
import cluster from "node:cluster";
import { once } from "node:events";
import { openKv } from "../dist/index.js";

const [folder] = process.argv.slice(2);
if (cluster.isPrimary) await lead();
else await work();

async function lead() {
  const counts = new Map();
  const owners = new Set();
  let onReport = () => undefined;
  cluster.on("message", ({ id, process: worker }, { count, isOwner, error }) => {
    if (error !== undefined) fail(error);
    counts.set(id, count);
    if (isOwner) owners.add(worker.pid);
    onReport();
  });
  for (let n = 0; n < 4; n++) cluster.fork();
  /** Waits until all workers that are left have made more commits than before. */
  const progress = async () => {
    const before = new Map(counts);
    const alive = () => Object.keys(cluster.workers).map(Number);
    while (!alive().every((id) => counts.get(id) > (before.get(id) ?? 0) + 20))
      await new Promise((resolve) => {
        onReport = resolve;
      });
  };
  await progress();
  for (let kills = 0; kills < 3; kills++) {
    const owner = Object.values(cluster.workers).find(({ process }) => owners.has(process.pid));
    owner.process.kill("SIGKILL");
    await once(owner, "exit");
    await progress();
  }
  const [last] = Object.values(cluster.workers);
  last.send("end");
  await once(last, "exit");
  const kv = await openKv(folder);
  const { value } = await kv.get(["sum"]);
  await kv.close();
  const counted = [...counts.values()].reduce((sum, count) => sum + count, 0);
  console.log(JSON.stringify({ owners: owners.size, counted, stored: Number(value) }));
}

function fail(error) {
  console.error(error);
  process.exit(1);
}

async function work() {
  const kv = await openKv(folder);
  let isEnding = false;
  process.on("message", () => {
    isEnding = true;
  });
  try {
    for (let count = 1; !isEnding; count++) {
      await kv.atomic().sum(["sum"], 1n).commit();
      await new Promise((resolve) =>
        process.send({ count, isOwner: kv.attached === undefined }, resolve),
      );
    }
    await kv.close();
    process.disconnect();
  } catch (error) {
    process.send({ error: String(error) });
  }
}
