import { type EmbeddedKv, EngineUnavailableError, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, expectTypeOf, it, vi } from "vitest";
import * as z from "zod";
import {
  createDatabase,
  defineJob,
  defineModel,
  JobCancelledError,
  type JobQueue,
  JobTimeoutError,
  type RunningJob,
  WorkerStoppedError,
} from "../src/index.js";
import { migrate } from "../src/migrate.js";
import { testClock } from "../src/testing.js";
import { crashingKv, interferingKv, interruptedKv } from "./faulty-kv.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), tenant: z.string() }),
  primaryKey: ["tenant", "id"],
});
const Task = defineJob({
  name: "task",
  schema: z.object({ n: z.number() }),
  retry: { attempts: 2, backoff: [1], jitter: 0 },
});
const Timed = defineJob({
  name: "timed",
  schema: z.object({ n: z.number() }),
  retry: { attempts: 1 },
  timeout: 60,
});
const Rated = defineJob({
  name: "rated",
  schema: z.object({ n: z.number() }),
  rate: { limit: 3, per: "1 minute" },
});
const models = { users: User };
const jobs = { task: Task, timed: Timed, rated: Rated };

const open = (on: EmbeddedKv) => createDatabase({ kv: on, models, jobs });
type Db = Awaited<ReturnType<typeof open>>;

let kv: EmbeddedKv;
let db: Db;
beforeEach(async () => {
  kv = await openKv(":memory:");
  db = await open(kv);
});
afterEach(() => kv.close());

const quiet = { onError: () => undefined };
const untilCounts = (name: "task" | "timed" | "rated", counts: object) =>
  expect.poll(() => db.jobs[name].counts(), { interval: 2 }).toMatchObject(counts);

/** Returns a promise that the test settles. */
function gate() {
  let open = () => undefined as unknown;
  const opened = new Promise<void>((resolve) => {
    open = () => resolve();
  });
  return { open, opened };
}

/** Resolves with the reason of a signal when it is aborted. */
const aborted = (signal: AbortSignal) =>
  new Promise<unknown>((resolve) => {
    signal.addEventListener("abort", () => resolve(signal.reason));
  });

it("a job that has not begun is removed when it is cancelled", async () => {
  const { id } = await db.jobs.task.enqueue({ n: 1 }, { unique: "key" });
  const { id: later } = await db.jobs.task.enqueue({ n: 2 }, { delay: "1 hour" });
  expect(await db.jobs.task.cancel(id)).toBe(true);
  expect(await db.jobs.task.cancel(later)).toBe(true);
  expect(await db.jobs.task.cancel(id)).toBe(false);
  expect(await db.jobs.stored()).toEqual([]);
  expect((await db.jobs.task.enqueue({ n: 1 }, { unique: "key" })).isNew).toBe(true);
});

it("a job that runs is aborted when it is cancelled, keeps its key until its handler ends, and is not tried again", async () => {
  const { id } = await db.jobs.task.enqueue({ n: 1 }, { unique: "key" });
  const [ending, reasons] = [gate(), [] as unknown[]];
  await using worker = db.work(
    {
      task: async (_, { signal, transaction }) => {
        reasons.push(await aborted(signal));
        await expect(transaction(async () => undefined)).rejects.toThrow(JobCancelledError);
        await ending.opened;
        throw new Error("ended");
      },
    },
    quiet,
  );
  await expect.poll(() => worker.running).toBe(1);
  expect(await db.jobs.task.cancel(id)).toBe(true);
  await expect.poll(() => reasons.length).toBe(1);
  expect(reasons[0]).toBeInstanceOf(JobCancelledError);
  expect(await db.jobs.task.get(id)).toMatchObject({ state: "running", isCancelled: true });
  expect((await db.jobs.task.enqueue({ n: 1 }, { unique: "key" })).isNew).toBe(false);
  ending.open();
  await untilCounts("task", { running: 0, waiting: 0, delayed: 0, failed: 0 });
  expect(await db.jobs.task.get(id)).toBeNull();
});

it("a handler that does not end in time fails, and no longer holds a place of the worker", async () => {
  await db.jobs.timed.enqueueMany([{ n: 1 }, { n: 2 }]);
  const begun: number[] = [];
  await using _worker = db.work(
    {
      timed: (job) => {
        begun.push(job.payload.n);
        return job.payload.n === 1 ? new Promise(() => undefined) : undefined;
      },
    },
    { ...quiet, concurrency: 1, grace: 5 },
  );
  await untilCounts("timed", { failed: 1, waiting: 0, running: 0 });
  expect(begun).toEqual([1, 2]);
  const { items } = await db.jobs.timed.failed();
  expect(items[0]?.failure).toMatchObject({ code: "KW_JOB_TIMEOUT", name: "JobTimeoutError" });
});

it("a heartbeat begins the timeout again", async () => {
  await db.jobs.timed.enqueue({ n: 1 });
  const failures: unknown[] = [];
  await using _worker = db.work(
    {
      timed: async (_, { heartbeat, signal }) => {
        for (let i = 0; i < 6; i++) {
          await new Promise((resolve) => setTimeout(resolve, 20));
          await heartbeat();
        }
        expect(signal.aborted).toBe(false);
        failures.push(await aborted(signal));
      },
    },
    quiet,
  );
  await expect.poll(() => failures.length).toBe(1);
  expect(failures[0]).toBeInstanceOf(JobTimeoutError);
});

it("stop waits for jobs that run, and begins no more", async () => {
  await db.jobs.task.enqueueMany([{ n: 1 }, { n: 2 }]);
  const [ending, begun] = [gate(), [] as number[]];
  const worker = db.work(
    {
      task: async (job) => {
        begun.push(job.payload.n);
        await ending.opened;
      },
    },
    { concurrency: 1 },
  );
  await expect.poll(() => begun).toEqual([1]);
  let hasStopped = false;
  const stopping = worker.stop().then(() => {
    hasStopped = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(hasStopped).toBe(false);
  ending.open();
  await stopping;
  expect(begun).toEqual([1]);
  expect(await db.jobs.task.counts()).toMatchObject({ waiting: 1, running: 0 });
});

it("stop with a time gives jobs back, and their attempts do not count", async () => {
  const { id } = await db.jobs.task.enqueue({ n: 1 });
  const reasons: unknown[] = [];
  const worker = db.work(
    {
      task: async (_, { signal }) => {
        reasons.push(await aborted(signal));
        throw signal.reason;
      },
    },
    quiet,
  );
  await expect.poll(() => worker.running).toBe(1);
  await worker.stop({ within: 5 });
  expect(reasons[0]).toBeInstanceOf(WorkerStoppedError);
  expect(await db.jobs.task.get(id)).toMatchObject({ state: "waiting", attempts: 0 });
});

it("the signal of a worker stops it", async () => {
  const stopping = new AbortController();
  const worker = db.work({ task: () => undefined }, { signal: stopping.signal });
  stopping.abort();
  await worker.stopped;
  await db.jobs.task.enqueue({ n: 1 });
  expect(await db.jobs.task.counts()).toMatchObject({ waiting: 1 });
});

it("a worker ends with an error if its database is closed", async () => {
  const other = await openKv(":memory:");
  const worker = (await open(other)).work({ task: () => undefined }, quiet);
  await other.close();
  await expect(worker.stopped).rejects.toThrow(/closed/);
});

it("delayed jobs run when they are due, before jobs of a lower priority", async () => {
  using clock = testClock("2026-01-01T00:00:00Z");
  const seen: string[] = [];
  await db.jobs.task.enqueue({ n: 1 }, { delay: "1 hour", priority: 1 });
  await db.jobs.task.enqueue({ n: 2 }, { runAt: new Date("2026-01-01T00:30:00Z") });
  const [first] = (await db.jobs.task.list({ state: "delayed" })).items;
  expect(first?.runAt).toEqual(new Date("2026-01-01T00:30:00Z"));
  const worker = db.work({
    task: (job) => void seen.push(`${job.payload.n} ${new Date().toISOString().slice(11, 16)}`),
  });
  await clock.advance(29 * 60_000);
  expect(seen).toEqual([]);
  await clock.advance(2 * 60_000);
  await expect.poll(() => seen.length).toBe(1);
  await clock.advance(60 * 60_000);
  await expect.poll(() => seen.length).toBe(2);
  // Timers wait at most a minute before they read the clock again.
  expect(seen[0]).toMatch(/^2 00:3[01]$/);
  expect(seen[1]).toMatch(/^1 01:[0-3][0-9]$/);
  await worker.stop();
});

it("a rate limit holds over all workers", async () => {
  await db.jobs.rated.enqueueMany(Array.from({ length: 8 }, (_, n) => ({ n })));
  let runs = 0;
  const workers = [1, 2].map(() => db.work({ rated: () => void runs++ }));
  await expect.poll(() => runs).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(runs).toBeLessThanOrEqual(3);
  for (const worker of workers) await worker.stop();
  const { waiting } = await db.jobs.rated.counts();
  expect(waiting + runs).toBe(8);
});

it("a clock that is set back does not stop jobs of a rate limit", async () => {
  const Quick = defineJob({
    name: "quick",
    schema: z.object({}),
    rate: { limit: 1, per: "300 milliseconds" },
  });
  const other = await createDatabase({ kv, models, jobs: { quick: Quick } });
  await other.jobs.quick.enqueueMany([{}, {}]);
  const clock = Date.now;
  let [runs, back] = [0, 0];
  const now = vi.spyOn(Date, "now").mockImplementation(() => clock() - back);
  const worker = other.work({ quick: () => void runs++ });
  try {
    await expect.poll(() => runs).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    back = 86_400_000;
    await expect.poll(() => runs).toBe(2);
  } finally {
    await worker.stop();
    now.mockRestore();
  }
});

it("a clock that is set forward does not run a job a second time in the same worker", async () => {
  await db.jobs.task.enqueue({ n: 1 });
  const clock = Date.now;
  let ahead = 0;
  const now = vi.spyOn(Date, "now").mockImplementation(() => clock() + ahead);
  const running = gate();
  const seen: number[] = [];
  const handler = async (job: RunningJob<{ n: number }>) => {
    seen.push(job.payload.n);
    if (job.payload.n === 1) await running.opened;
  };
  const worker = db.work({ task: handler });
  try {
    await expect.poll(() => seen).toEqual([1]);
    ahead = 3_600_000;
    // The worker looks for jobs, and for those that were lost.
    await db.jobs.task.enqueue({ n: 2 });
    await expect.poll(() => seen).toEqual([1, 2]);
    await db.jobs.task.enqueue({ n: 3 });
    await expect.poll(() => seen).toEqual([1, 2, 3]);
    running.open();
    await untilCounts("task", { running: 0, failed: 0 });
  } finally {
    running.open();
    await worker.stop();
    now.mockRestore();
  }
  expect(seen).toEqual([1, 2, 3]);
});

it("onError may be an async function that fails", async () => {
  await db.jobs.task.enqueueMany([{ n: 1 }, { n: 2 }]);
  const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const onError = async () => {
    throw new Error("the pager is down");
  };
  const worker = db.work({ task: () => Promise.reject(new Error("always")) }, { onError });
  try {
    await untilCounts("task", { failed: 2 });
    expect(printed.mock.calls.map(([text]) => text)).toContain(
      "onError of a worker of jobs has thrown an error:",
    );
  } finally {
    await worker.stop();
    printed.mockRestore();
  }
});

it("index entries that lead to no job neither stop the others nor keep the worker busy", async () => {
  const ids = await db.jobs.task.enqueueMany([{ n: 1 }, { n: 2 }, { n: 3 }]);
  // As damage would do.
  await kv.delete(["keywright_jobs", ids[0]!.id]);
  await kv.delete(["keywright_jobs", ids[1]!.id]);
  const seen: number[] = [];
  await using _worker = db.work(
    { task: (job) => void seen.push(job.payload.n) },
    { concurrency: 1 },
  );
  await expect.poll(() => seen).toEqual([3]);
  const lists = vi.spyOn(kv.pages!, "list");
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(lists.mock.calls.length).toBeLessThan(40);
  lists.mockRestore();
});

it("a payload that no longer fits the schema fails at once, and the error names the field", async () => {
  await db.jobs.task.enqueue({ n: 1 });
  const Changed = defineJob({ name: "task", schema: z.object({ n: z.number(), to: z.string() }) });
  const later = await createDatabase({ kv, models, jobs: { task: Changed } });
  let runs = 0;
  await using _worker = later.work({ task: () => void runs++ }, quiet);
  await untilCounts("task", { failed: 1 });
  expect(runs).toBe(0);
  const { items } = await later.jobs.task.failed();
  expect(items[0]).toMatchObject({
    attempts: 1,
    failure: { code: "KW_JOB_PAYLOAD_INVALID", issues: [{ path: ["to"] }] },
  });
  expect(items[0]?.failure?.message).toContain("to (expected string)");
});

it("jobs of a name that no worker knows stay, and are reported", async () => {
  await db.jobs.task.enqueue({ n: 1 });
  await db.jobs.timed.enqueue({ n: 2 });
  const other = await createDatabase({ kv, models, jobs: { timed: Timed } });
  const worker = other.work({ timed: () => undefined });
  await untilCounts("timed", { waiting: 0, running: 0 });
  await worker.stop();
  expect(await other.jobs.stored()).toEqual([
    { name: "task", waiting: 1, delayed: 0, running: 0, failed: 0, isKnown: false },
  ]);
  const { items } = await other.jobs.named("task").list({ state: "waiting" });
  expect(items.map(({ payload }) => payload)).toEqual([{ n: 1 }]);
});

it("a job whose worker was lost runs again, and its attempt counts", async () => {
  await db.jobs.task.enqueue({ n: 1 });
  // The database of this worker no longer answers after the claim.
  const lost = await createDatabase({ kv: crashingKv(kv, 1, "after"), models, jobs });
  lost.work({ task: () => undefined }, { ...quiet, lease: 150 });
  await untilCounts("task", { running: 1 });
  const seen: RunningJob[] = [];
  await using _worker = db.work({ task: (job) => void seen.push(job) }, { lease: 150 });
  await expect.poll(() => seen.length).toBe(1);
  expect(seen[0]).toMatchObject({ attempt: 2, isLastAttempt: true });
  await untilCounts("task", { running: 0, waiting: 0, failed: 0 });
});

it("a job that loses its worker in its last attempt ends in the list of failed jobs", async () => {
  const { id } = await db.jobs.timed.enqueue({ n: 1 });
  const lost = await createDatabase({ kv: crashingKv(kv, 1, "after"), models, jobs });
  lost.work({ timed: () => undefined }, { ...quiet, lease: 150 });
  await untilCounts("timed", { running: 1 });
  let runs = 0;
  await using _worker = db.work({ timed: () => void runs++ }, { lease: 150 });
  await untilCounts("timed", { failed: 1, running: 0 });
  expect(runs).toBe(0);
  expect((await db.jobs.timed.get(id))?.failure).toMatchObject({ code: "KW_JOB_INTERRUPTED" });
});

it("a job is tried again with the payload that is stored, whatever its handler has done to it", async () => {
  const Open = defineJob({
    name: "open",
    schema: z.any(),
    keepResult: "1 day",
    retry: { attempts: 2, backoff: [1], jitter: 0 },
  });
  const other = await createDatabase({ kv, models, jobs: { open: Open } });
  const { id } = await other.jobs.open.enqueue({ n: 1 });
  const seen: number[] = [];
  await using _worker = other.work(
    {
      open: ({ payload }) => {
        seen.push(payload.n);
        payload.n = 2;
        if (seen.length === 1) throw new Error("no");
      },
    },
    quiet,
  );
  await expect.poll(async () => (await other.jobs.open.get(id))?.state).toBe("done");
  expect(seen).toEqual([1, 1]);
  expect((await other.jobs.open.get(id))?.payload).toEqual({ n: 1 });
});

it("a job that is cancelled after its handler has ended is removed once", async () => {
  const { id } = await db.jobs.task.enqueue({ n: 1 });
  let isCancelled = false;
  const cancelling = interferingKv(kv, async () => {
    if ((await db.jobs.task.get(id))?.state !== "running" || isCancelled) return;
    isCancelled = true;
    expect(await db.jobs.task.cancel(id)).toBe(true);
  });
  const other = await open(cancelling as EmbeddedKv);
  const errors: unknown[] = [];
  const worker = other.work({ task: () => undefined }, { onError: (e) => void errors.push(e) });
  await untilCounts("task", { waiting: 0, running: 0, delayed: 0, failed: 0 });
  await worker.stop();
  expect([isCancelled, errors]).toEqual([true, []]);
  expect(await db.jobs.stored()).toEqual([]);
});

it("leases are renewed while handlers run", async () => {
  await db.jobs.task.enqueue({ n: 1 });
  let runs = 0;
  const handlers = {
    task: async () => {
      runs++;
      await new Promise((resolve) => setTimeout(resolve, 1800));
    },
  };
  // A busy machine may stop the event loop for longer than a short lease.
  const workers = [1, 2].map(() => db.work(handlers, { lease: 600 }));
  await untilCounts("task", { waiting: 0, running: 0 });
  for (const worker of workers) await worker.stop();
  expect(runs).toBe(1);
});

it("a job is lost when its lease ends, also while its renewal waits for an answer", async () => {
  await db.jobs.task.enqueue({ n: 1 });
  const answer = gate();
  let isSilent = false;
  const silent = interferingKv(kv, async () => {
    if (isSilent) await answer.opened;
  });
  const other = await open(silent as EmbeddedKv);
  const lost = gate();
  let reason: unknown;
  const worker = other.work(
    {
      task: async (_, { signal }) => {
        isSilent = true;
        reason = await aborted(signal);
        lost.open();
      },
    },
    { ...quiet, lease: 120 },
  );
  await lost.opened;
  expect(reason).toMatchObject({ code: "KW_JOB_LOST" });
  isSilent = false;
  answer.open();
  await worker.stop();
});

it("a job has succeeded although its end could not be stored at once", async () => {
  const unavailable = new EngineUnavailableError("no server answers", "Wait");
  let failures = 0;
  const failing = interruptedKv(kv, () => {
    if (failures === 0 || failures > 2) return undefined;
    failures++;
    return unavailable;
  });
  const other = await open(failing as EmbeddedKv);
  await db.jobs.task.enqueue({ n: 1 });
  let runs = 0;
  const errors: unknown[] = [];
  const worker = other.work(
    {
      task: () => {
        runs++;
        failures = 1;
      },
    },
    { onError: (error) => errors.push(error) },
  );
  await untilCounts("task", { waiting: 0, running: 0, delayed: 0 });
  await worker.stop();
  expect(failures).toBe(3);
  expect([runs, errors]).toEqual([1, [unavailable]]);
  expect(await db.jobs.stored()).toEqual([]);
});

it("a transaction of the database and its scopes work beside jobs", async () => {
  await db.transaction(async (tx) => {
    await tx.scope({ tenant: "a" }).users.create({ data: { id: "1" } });
    await tx.jobs.task.enqueue({ n: 1 });
  });
  expect(await db.withContext("why").jobs.task.counts()).toMatchObject({ waiting: 1 });
});

it("a hook enqueues in the commit that writes the row", async () => {
  const hooked = await createDatabase({
    kv,
    models,
    jobs,
    hooks: {
      users: {
        duringCreate: async ({ id }, { tx }) => {
          await tx.jobs.task.enqueue({ n: Number(id) }, { unique: id });
        },
      },
    },
  });
  await hooked.users.create({ data: { tenant: "a", id: "7" } });
  const { items } = await db.jobs.task.list({ state: "waiting" });
  expect(items.map(({ payload, unique }) => [payload, unique])).toEqual([[{ n: 7 }, "7"]]);
  await expect(hooked.users.create({ data: { tenant: "a", id: "7" } })).rejects.toThrow("taken");
  expect(await db.jobs.task.counts()).toMatchObject({ waiting: 1 });
});

it("an onError that throws loses nothing", async () => {
  const { id } = await db.jobs.timed.enqueue({ n: 1 });
  const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
  await using _worker = db.work(
    {
      timed: () => {
        throw new Error("first");
      },
    },
    {
      onError: () => {
        throw new Error("second");
      },
    },
  );
  await untilCounts("timed", { failed: 1, running: 0 });
  expect((await db.jobs.timed.get(id))?.failure?.message).toBe("first");
  expect(printed).toHaveBeenCalledOnce();
  printed.mockRestore();
});

it("a handler may go on after its transaction has completed the job", async () => {
  await db.jobs.task.enqueue({ n: 1 });
  const signals: boolean[] = [];
  const worker = db.work(
    {
      task: async (_, { transaction, signal, heartbeat }) => {
        await transaction(async () => undefined);
        await heartbeat();
        await new Promise((resolve) => setTimeout(resolve, 400));
        signals.push(signal.aborted);
      },
    },
    { lease: 120 },
  );
  await expect.poll(() => signals).toEqual([false]);
  await worker.stop();
});

it("a program without jobs can use the database", async () => {
  await db.jobs.task.enqueue({ n: 1 });
  const other = await createDatabase({ kv, models });
  expect("jobs" in other).toBe(false);
  expect((await migrate(other)).status).toBe("done");
  expect((await migrate(db)).status).toBe("done");
  expect(await db.jobs.task.counts()).toMatchObject({ waiting: 1 });
});

it("refuse what is not valid, and say what it must be", async () => {
  const { task } = db.jobs;
  await expect(task.enqueue({ n: "1" } as never)).rejects.toThrow(/n \(expected number\)/);
  await expect(task.enqueue({ n: 1 }, { delay: "soon" as never })).rejects.toThrow(
    "jobs.task.enqueue: delay is not valid",
  );
  await expect(task.enqueue({ n: 1 }, { delay: 1, runAt: new Date() })).rejects.toThrow("runAt");
  await expect(task.enqueue({ n: 1 }, { dleay: 1 } as never)).rejects.toThrow("dleay");
  await expect(task.retry({} as never)).rejects.toThrow("{ all: true }");
  expect(() => db.work({ other: () => undefined } as never)).toThrow("handlers.other");
  expect(() => db.work({})).toThrow("at least one");
  expect(() => db.work({ task: () => undefined }, { lease: 1 })).toThrow("lease");
  const schema = z.object({});
  expect(() => defineJob({ name: "", schema })).toThrow("name");
  expect(() => defineJob({ name: "a", schema, retry: { atempts: 1 } as never })).toThrow(
    "retry.atempts: there is no such option",
  );
  expect(() => defineJob({ name: "a", schema, rate: { limit: 1, per: 0 } })).toThrow("rate.per");
  const twice = createDatabase({ kv, models, jobs: { a: Task, b: Task } });
  await expect(twice).rejects.toMatchObject({ code: "KW_JOB_INVALID" });
  const named = createDatabase({ kv, models: { jobs: User }, jobs: {} });
  await expect(named).rejects.toMatchObject({ code: "KW_MODEL_INVALID" });
});

it("have the types of their definitions", async () => {
  expectTypeOf(db.jobs.task).toEqualTypeOf<JobQueue<typeof Task>>();
  expectTypeOf(db.jobs.task.enqueue).parameter(0).toEqualTypeOf<{ n: number }>();
  expectTypeOf<Parameters<Parameters<Db["transaction"]>[0]>[0]["jobs"]>().toHaveProperty("task");
  type Handlers = NonNullable<Parameters<Db["work"]>[0]["task"]>;
  expectTypeOf<Parameters<Handlers>[0]>().toEqualTypeOf<RunningJob<{ n: number }>>();
  const plain = await createDatabase({ kv, models });
  expectTypeOf(plain).not.toHaveProperty("jobs");
  // @ts-expect-error the payload lacks a field.
  await expect(db.jobs.task.enqueue({})).rejects.toThrow();
});
