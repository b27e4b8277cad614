// Enqueues messages and listens to them, at a path, until it is killed. It prints a line for each
// acknowledged message ("enqueued 1-7") and for each message that its handler has received ("taken
// 1-7"). The message "deadly" kills it.
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
