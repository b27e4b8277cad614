// Measures one queue in a process of its own, and prints the figures as JSON: run.mjs starts it
// with the name of the queue, the number of jobs, and its places.
import { setTimeout as sleep } from "node:timers/promises";
import { queues } from "./queues.mjs";

const [name, jobs, places] = JSON.parse(process.argv[2]);
const inFlight = 64;

const queue = await queues[name](places);

const enqueued = await timed(async () => {
  let next = 0;
  const enqueueOthers = async () => {
    while (next < jobs) await queue.enqueue(next++);
  };
  await Promise.all(Array.from({ length: inFlight }, enqueueOthers));
});
let run = 0;
const worked = await timed(async () => {
  await queue.work(() => {
    run++;
  });
  while (run < jobs || (await queue.unfinished()) > 0) await sleep(5);
});
await queue.close();
console.log(JSON.stringify({ enqueued, worked }));
process.exit();

/** Returns jobs a second, and the CPU time of this process in microseconds a job. */
async function timed(step) {
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  await step();
  const { user, system } = process.cpuUsage(cpu);
  return { rate: jobs / ((performance.now() - started) / 1000), cpu: (user + system) / jobs };
}
