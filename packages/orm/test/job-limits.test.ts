import { type Kv, openKv } from "@keywright/core";
import { afterEach, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineJob, type WorkOptions } from "../src/index.js";
import { openDenoKv } from "./open-deno-kv.js";

const Text = defineJob({
  name: "text",
  schema: z.object({ text: z.string() }),
  retry: { attempts: 2, backoff: [1], jitter: 0 },
});
const Other = defineJob({ name: "other", schema: z.object({}), retry: { attempts: 1 } });
const Placed = defineJob({ name: "placed", schema: z.object({}), concurrency: 50 });
const jobs = { text: Text, other: Other, placed: Placed };

const open = (on: Kv) => createDatabase({ kv: on, models: {}, jobs });
type Db = Awaited<ReturnType<typeof open>>;

let kv: Kv;
afterEach(() => kv.close());

const empty = { waiting: 0, delayed: 0, running: 0, failed: 0 };

/** Works until the jobs of a name have these counts, and returns the errors. */
async function workUntil(
  db: Db,
  name: keyof typeof jobs,
  counts: object,
  handlers: Parameters<Db["work"]>[0],
  options: WorkOptions = {},
): Promise<unknown[]> {
  const errors: unknown[] = [];
  const worker = db.work(handlers, { onError: (error) => void errors.push(error), ...options });
  try {
    await expect
      .poll(() => db.jobs[name].counts(), { interval: 5 })
      .toEqual({ ...empty, ...counts });
  } finally {
    await worker.stop();
  }
  return errors;
}

it.each(["text", "placed"] as const)(
  "more jobs wait on Deno KV than one commit can take: %s",
  async (name) => {
    kv = await openDenoKv();
    const db = await open(kv);
    for (let n = 0; n < 40; n++) await db.jobs[name].enqueue({ text: `${n}` } as never);
    let runs = 0;
    const handlers = { [name]: () => void runs++ };
    expect(await workUntil(db, name, {}, handlers, { concurrency: 50 })).toEqual([]);
    expect(runs).toBe(40);
  },
);

it.each([
  ["of Deno KV", openDenoKv],
  ["in compat mode", () => openKv(":memory:", { compat: "deno" }) as Promise<Kv>],
] as const)("payloads are too large together for a commit %s", async (_, openTestKv) => {
  kv = await openTestKv();
  const db = await open(kv);
  const text = "x".repeat(50_000);
  const runAt = new Date(Date.now() + 50);
  for (let n = 0; n < 30; n++) await db.jobs.text.enqueue({ text }, { runAt });
  let runs = 0;
  const fail = async () => {
    runs++;
    // Longer than a third of a lease, so they are renewed together.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    throw new Error("no");
  };
  const options = { concurrency: 30, lease: 4000 };
  const errors = await workUntil(db, "text", { failed: 30 }, { text: fail }, options);
  expect(runs).toBe(60);
  expect(errors.map(String)).toEqual(Array.from({ length: 60 }, () => "Error: no"));
});

it("an error that does not fit beside the payload is stored in short", async () => {
  kv = await openDenoKv();
  const db = await open(kv);
  await db.jobs.text.enqueue({ text: "x".repeat(64_000) });
  const fail = () => {
    throw new RangeError("no ".repeat(2000));
  };
  const errors = await workUntil(db, "text", { failed: 1 }, { text: fail });
  expect(errors.map((error) => (error as Error).name)).toEqual(["RangeError", "RangeError"]);
  const { items } = await db.jobs.text.failed();
  expect(items[0]!.failure).toMatchObject({ name: "RangeError", stack: null });
  expect(items[0]!.failure!.message).toMatch(/^(no ){50}$/);
});

it.each([
  ["Deno KV", openDenoKv, 65_600],
  [
    "a database with a limit",
    () => openKv(":memory:", { limits: { valueBytes: 20_000 } }) as Promise<Kv>,
    20_100,
  ],
] as const)(
  "each payload that %s accepts can run, fail, run again and fail for good",
  async (_, openTestKv, tooLarge) => {
    kv = await openTestKv();
    const db = await open(kv);
    let [accepted, refused] = [tooLarge - 5000, tooLarge as number];
    while (refused - accepted > 1) {
      const size = Math.floor((accepted + refused) / 2);
      const enqueued = db.jobs.text.enqueue({ text: "x".repeat(size) }, { unique: "one" });
      try {
        await db.jobs.text.cancel((await enqueued).id);
        accepted = size;
      } catch {
        refused = size;
      }
    }
    await db.jobs.text.enqueue({ text: "x".repeat(accepted) }, { unique: "one" });
    const fail = () => {
      throw new RangeError("né ".repeat(2000));
    };
    const errors = await workUntil(db, "text", { failed: 1 }, { text: fail });
    expect(errors.map((error) => (error as Error).name)).toEqual(["RangeError", "RangeError"]);
  },
);

it("a handler may throw what has no text", async () => {
  kv = await openKv(":memory:");
  const db = await open(kv);
  await db.jobs.other.enqueue({});
  const fail = () => {
    throw Object.create(null);
  };
  await workUntil(db, "other", { failed: 1 }, { other: fail });
  const { items } = await db.jobs.other.failed();
  expect(items[0]!.failure!.message).toBe("The handler has thrown a value that has no text.");
});

it("a handler that enqueues what is not valid is tried again", async () => {
  kv = await openKv(":memory:");
  const db = await open(kv);
  await db.jobs.text.enqueue({ text: "a" });
  let runs = 0;
  const enqueue = async () => {
    runs++;
    await db.jobs.text.enqueue({} as never);
  };
  await workUntil(db, "text", { failed: 1 }, { text: enqueue });
  expect(runs).toBe(2);
});

it("jobs of two names take turns, also if the jobs of one of them have places", async () => {
  kv = await openKv(":memory:");
  const db = await open(kv);
  for (let n = 0; n < 20; n++) {
    await db.jobs.placed.enqueue({});
    await db.jobs.other.enqueue({});
  }
  const order: string[] = [];
  const handler = async ({ name }: { readonly name: string }) => {
    order.push(name);
    await new Promise((resolve) => setTimeout(resolve, 2));
  };
  const handlers = { placed: handler, other: handler };
  const worker = db.work(handlers, { concurrency: 1 });
  await expect.poll(() => order.length, { interval: 5 }).toBe(40);
  await worker.stop();
  expect(order.slice(0, 20).filter((name) => name === "placed")).toHaveLength(10);
});

it("a job that cannot be read is reported once in a while, however many jobs of other names run", async () => {
  kv = await openKv(":memory:");
  const db = await open(kv);
  const { id } = await db.jobs.text.enqueue({ text: "a" });
  // As damage would do.
  await kv.set(["keywright_jobs", id], 5);
  for (let n = 0; n < 200; n++) await db.jobs.other.enqueue({});
  const handlers = { text: () => undefined, other: () => undefined };
  const began = performance.now();
  const errors = await workUntil(db, "other", {}, handlers, { concurrency: 1 });
  const seconds = (performance.now() - began) / 1000;
  expect(errors.length).toBeGreaterThan(0);
  expect(errors.length).toBeLessThanOrEqual(seconds + 1);
});
