// Enqueues messages and listens to them, at a path, until it is killed. It prints what was acknowledged ("enqueued 1-7")
// and what its handler has done ("taken 1-7"), each on a line. The message "deadly" it does not survive.
import { openKv } from "../dist/index.js";

const [path, durability, round, messages] = process.argv.slice(2);
const kv = await openKv(path, { durability });
// More retries than the process is killed: none of them goes undelivered.
const options = { backoffSchedule: [1, 1, 1, 1, 1], keysIfUndelivered: [["undelivered"]] };

async function work(id) {
  if (id === "deadly") process.kill(process.pid, "SIGKILL");
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
  process.stdout.write(`taken ${id}\n`);
}

async function enqueue(id) {
  await kv.enqueue(id, options);
  process.stdout.write(`enqueued ${id}\n`);
}

const listening = kv.listenQueue(work);
for (let first = 0; first < Number(messages); first += 16) {
  await Promise.all(Array.from({ length: 16 }, (_, index) => enqueue(`${round}-${first + index}`)));
}
await listening;
