import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineJob } from "../src/index.js";
import { testClock } from "../src/testing.js";

const Task = defineJob({
  name: "task",
  schema: z.object({ n: z.number() }),
  keepResult: "1 hour",
});
const jobs = { task: Task };
const many = Array.from({ length: 1000 }, (_, n) => ({ n }));

const open = (on: EmbeddedKv) => createDatabase({ kv: on, models: {}, jobs });

let kv: EmbeddedKv;
let db: Awaited<ReturnType<typeof open>>;
beforeEach(async () => {
  kv = await openKv(":memory:");
  db = await open(kv);
});
afterEach(() => kv.close());

async function rows(): Promise<number> {
  let count = 0;
  for await (const _ of kv.list({ prefix: ["keywright_jobs"] })) count++;
  return count;
}

it("jobs run before all delayed ones wait that are due", async () => {
  using clock = testClock();
  await db.jobs.task.enqueueMany(many, { delay: "1 minute" });
  await clock.advance(61_000);
  const delayed: number[] = [];
  const handler = async () => void delayed.push((await db.jobs.task.counts()).delayed);
  const worker = db.work({ task: handler }, { concurrency: 100 });
  await expect.poll(() => delayed.length, { timeout: 10_000 }).toBe(many.length);
  await worker.stop();
  expect(delayed[0]).toBeGreaterThan(0);
});

it("jobs run before all results are removed that are no longer kept", async () => {
  using clock = testClock();
  await db.jobs.task.enqueueMany(many);
  const first = db.work({ task: () => undefined }, { concurrency: 100 });
  const none = { waiting: 0, delayed: 0, running: 0, failed: 0 };
  await expect.poll(() => db.jobs.task.counts(), { timeout: 10_000 }).toEqual(none);
  await first.stop();
  expect(await rows()).toBe(many.length);
  await clock.advance(2 * 3_600_000);
  await db.jobs.task.enqueue({ n: 0 });
  const left: number[] = [];
  const second = db.work({ task: async () => void left.push(await rows()) });
  await expect.poll(rows, { timeout: 10_000 }).toBe(1);
  await second.stop();
  expect(left[0]).toBeGreaterThan(1);
});
