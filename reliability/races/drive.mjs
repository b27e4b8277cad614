import { setImmediate as turn } from "node:timers/promises";

const patience = 5000;

/**
 * Lets a scheduler choose the next of the waiting steps until `work` settles. All steps that can
 * follow from one step are waiting before the next one is chosen.
 *
 * @param scheduler of `fc.scheduler`.
 * @throws {Error} if nothing happens for some seconds.
 */
export async function drive(scheduler, work) {
  let isDone = false;
  const end = () => {
    isDone = true;
  };
  work.then(end, end);
  let lastStep = performance.now();
  while (!isDone) {
    await turn();
    if (scheduler.count() > 0) {
      await scheduler.waitOne();
      lastStep = performance.now();
    } else if (performance.now() - lastStep > patience) {
      throw new Error("a call never ended");
    }
  }
  return await work;
}

/** Lets the scheduler choose until no step is waiting. */
export async function settle(scheduler) {
  for (let quiet = 0; quiet < 5; quiet++) {
    await turn();
    if (scheduler.count() === 0) continue;
    await scheduler.waitOne();
    quiet = 0;
  }
}
