import { AmbiguousCommitError, type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineJob, type RunningJob } from "../src/index.js";
import { interferingKv, interruptedKv } from "./faulty-kv.js";

const Task = defineJob({
  name: "task",
  schema: z.object({ n: z.number() }),
  retry: { attempts: 1 },
});
const jobs = { task: Task };

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv(":memory:");
});
afterEach(() => kv.close());

/** Returns a database that makes its next commit after `lose`, and does not say so. */
async function losing() {
  let isNext = false;
  const ambiguous = () => {
    if (!isNext) return undefined;
    isNext = false;
    return new AmbiguousCommitError(1);
  };
  const db = await createDatabase({ kv: interruptedKv(kv, ambiguous, "after"), models: {}, jobs });
  const lose = () => {
    isNext = true;
  };
  return { db, lose };
}

it("a claim without an answer takes its jobs nevertheless", async () => {
  const { db, lose } = await losing();
  await db.jobs.task.enqueueMany([{ n: 1 }, { n: 2 }]);
  lose();
  const seen: RunningJob[] = [];
  const errors: unknown[] = [];
  const worker = db.work(
    { task: (job) => void seen.push(job) },
    { onError: (error) => void errors.push(error) },
  );
  await expect.poll(() => db.jobs.stored()).toEqual([]);
  await worker.stop();
  expect(seen.map(({ attempt }) => attempt)).toEqual([1, 1]);
  expect(errors).toEqual([]);
});

it.each(["one job", "several jobs"])(
  "a job whose end was stored without an answer is not reported as lost: %s",
  async (many) => {
    const { db, lose } = await losing();
    await db.jobs.task.enqueueMany(many === "one job" ? [{ n: 1 }] : [{ n: 1 }, { n: 2 }]);
    const errors: unknown[] = [];
    const worker = db.work({ task: lose }, { onError: (error) => void errors.push(error) });
    await expect.poll(() => db.jobs.stored()).toEqual([]);
    await worker.stop();
    expect(errors).toEqual([]);
  },
);

it("a renewal that is under way when a worker has ended reports no closed database", async () => {
  const first = await createDatabase({ kv, models: {}, jobs });
  await first.jobs.task.enqueue({ n: 1 });
  let renewal: "awaited" | "held" | undefined;
  let begin = () => undefined as unknown;
  const begun = new Promise<void>((resolve) => {
    begin = () => resolve();
  });
  let end = () => undefined as unknown;
  const ended = new Promise<void>((resolve) => {
    end = () => resolve();
  });
  const holding = interferingKv(kv, async () => {
    if (renewal !== "awaited") return;
    renewal = "held";
    begin();
    await ended;
  });
  const db = await createDatabase({ kv: holding, models: {}, jobs });
  const errors: unknown[] = [];
  const handler = async () => {
    renewal = "awaited";
    await begun;
  };
  const onError = (error: unknown) => void errors.push(error);
  const worker = db.work({ task: handler }, { lease: 120, onError });
  await expect.poll(() => first.jobs.stored()).toEqual([]);
  await worker.stop();
  await kv.close();
  end();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(errors).toEqual([]);
  kv = await openKv(":memory:");
});

it("a job whose tracing throws fails", async () => {
  const jobTracing = {
    current: () => null,
    run: () => {
      throw new Error("the tracer");
    },
  };
  const db = await createDatabase({ kv, models: {}, jobs, jobTracing });
  const { id } = await db.jobs.task.enqueue({ n: 1 });
  const worker = db.work({ task: () => undefined }, { onError: () => undefined });
  await expect.poll(() => db.jobs.task.counts()).toMatchObject({ failed: 1, running: 0 });
  expect(worker.running).toBe(0);
  await worker.stop();
  expect((await db.jobs.task.get(id))?.failure?.message).toBe("the tracer");
});
