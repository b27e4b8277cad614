// Commits to the database at a path, with 64 commits in flight, until it is killed. crash-run.mjs
// starts it. Each commit writes the same number under several keys, counts itself, and enqueues the
// number. It prints `opening`, `committed <number> <versionstamp>` after a commit is acknowledged,
// and `delivered <number>` if it listens. With `last` it kills itself after that number of
// acknowledged commits, because a kill from outside would come a little later.
import { openKv } from "../dist/index.js";

const { path, durability, round, listens, last } = JSON.parse(process.argv[2]);
const day = 24 * 60 * 60 * 1000;

print("opening");
const kv = await openKv(path, { durability });
let next = 0;
let acknowledged = 0;

async function commitForEver() {
  for (;;) {
    const id = `${round}-${next++}`;
    const payload = "x".repeat(Math.floor(Math.random() * 2000));
    const { versionstamp } = await kv
      .atomic()
      .check({ key: ["left", id], versionstamp: null })
      .set(["left", id], { id, payload })
      .set(["right", id], { id, payload })
      .set(["lasting", id], { id }, { expireIn: day })
      .set(["fleeting", id], { id }, { expireIn: 1 })
      .sum(["commits"], 1n)
      .enqueue(id, { backoffSchedule: [1, 1, 1] })
      .commit();
    print(`committed ${id} ${versionstamp}`);
    if (++acknowledged === last) process.kill(process.pid, "SIGKILL");
  }
}

/** Takes a while, so that there are always messages that handlers have. */
async function handle(id) {
  await new Promise((resolve) => setTimeout(resolve, 5));
  print(`delivered ${id}`);
}

function print(line) {
  process.stdout.write(`${line}\n`);
}

await Promise.all([
  listens && kv.listenQueue(handle),
  ...Array.from({ length: 64 }, commitForEver),
]);
