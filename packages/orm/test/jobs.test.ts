import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineJob, defineModel } from "../src/index.js";
import { verifyIndexes } from "../src/migrate.js";
import { denoKv } from "./faulty-kv.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.ulid(), name: z.string() }),
  primaryKey: "id",
  count: true,
});
const Mail = defineJob({
  name: "mail",
  schema: z.object({ to: z.string(), copies: z.number().default(1) }),
  retry: { attempts: 3, backoff: "fixed", delay: 5, jitter: 0 },
});
const Report = defineJob({
  name: "report",
  schema: z.object({ n: z.number() }),
  keepResult: "1 day",
  retry: { attempts: 1 },
});
const Single = defineJob({ name: "single", schema: z.object({ n: z.number() }), concurrency: 2 });
const models = { users: User };
const jobs = { mail: Mail, report: Report, single: Single };

const open = (kv: EmbeddedKv) => createDatabase({ kv, models, jobs });
type Db = Awaited<ReturnType<typeof open>>;

describe.each([
  ["in memory", () => openKv(":memory:")],
  ["in compat mode", () => openKv(":memory:", { compat: "deno" })],
  ["on a database that states nothing", async () => denoKv(await openKv(":memory:"))],
] as const)("jobs %s", (_, openTestKv) => {
  let kv: EmbeddedKv;
  let db: Db;
  beforeEach(async () => {
    kv = (await openTestKv()) as EmbeddedKv;
    db = await open(kv);
  });
  afterEach(() => kv.close());

  /** Runs jobs until no job of a name is waiting, delayed or running. */
  async function workUntilDone(handlers: Parameters<Db["work"]>[0], options = {}): Promise<void> {
    const worker = db.work(handlers, { onError: () => undefined, ...options });
    try {
      await expect
        .poll(
          async () =>
            (await db.jobs.stored()).map(
              ({ waiting, delayed, running }) => waiting + delayed + running,
            ),
          { interval: 5 },
        )
        .toSatisfy((counts: number[]) => counts.every((count) => count === 0));
    } finally {
      await worker.stop();
    }
  }

  it("are stored by the commit of their transaction, or not at all", async () => {
    await db.transaction(async (tx) => {
      const { name } = await tx.users.create({ data: { name: "Ada" } });
      await tx.jobs.mail.enqueue({ to: name });
      expect(await tx.jobs.mail.counts()).toMatchObject({ waiting: 1 });
      expect(await db.jobs.mail.counts()).toMatchObject({ waiting: 0 });
    });
    expect(await db.jobs.mail.counts()).toEqual({ waiting: 1, delayed: 0, running: 0, failed: 0 });
    const failing = db.transaction(async (tx) => {
      await tx.jobs.mail.enqueue({ to: "nobody" });
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await db.jobs.mail.counts()).toMatchObject({ waiting: 1 });
  });

  it("refuse writes past the transaction that calls them", async () => {
    const bypassing = db.transaction(async () => {
      await db.jobs.mail.enqueue({ to: "Ada" });
    });
    await expect(bypassing).rejects.toMatchObject({ code: "KW_TRANSACTION_BYPASSED" });
  });

  it("run with the output of their schema, and are gone", async () => {
    const { id } = await db.jobs.mail.enqueue({ to: "Ada" });
    const seen: unknown[] = [];
    await workUntilDone({ mail: (job) => void seen.push(job) });
    expect(seen).toMatchObject([
      { id, name: "mail", payload: { to: "Ada", copies: 1 }, attempt: 1, isLastAttempt: false },
    ]);
    expect(await db.jobs.mail.get(id)).toBeNull();
    expect(await db.jobs.stored()).toEqual([]);
    expect((await verifyIndexes(db)).status).toBe("clean");
  });

  it("run by priority, and then in the order in which they were enqueued", async () => {
    for (const [to, priority] of [
      ["a", 0],
      ["b", 5],
      ["c", 0],
      ["d", -1],
      ["e", 5],
    ] as const)
      await db.jobs.mail.enqueue({ to }, { priority });
    const { items } = await db.jobs.mail.list({ state: "waiting" });
    expect(items.map(({ payload }) => payload.to).join("")).toBe("beacd");
    let order = "";
    await workUntilDone(
      {
        mail: ({ payload }) => {
          order += payload.to;
        },
      },
      { concurrency: 1 },
    );
    expect(order).toBe("beacd");
  });

  it("are tried again, and end in the list of failed jobs", async () => {
    const { id } = await db.jobs.mail.enqueue({ to: "Ada" }, { unique: "ada" });
    const attempts: number[] = [];
    const fail = ({ attempt }: { attempt: number }) => {
      attempts.push(attempt);
      throw new RangeError(`no ${attempt}`);
    };
    await workUntilDone({ mail: fail });
    expect(attempts).toEqual([1, 2, 3]);
    expect(await db.jobs.mail.counts()).toMatchObject({ failed: 1 });
    const { items } = await db.jobs.mail.failed();
    expect(items).toMatchObject([
      { id, attempts: 3, unique: "ada", failure: { name: "RangeError", message: "no 3" } },
    ]);
    // The key of a failed job is free.
    const second = await db.jobs.mail.enqueue({ to: "Ada" }, { unique: "ada" });
    expect(second.isNew).toBe(true);
    expect(await db.jobs.mail.retry(id)).toEqual({ count: 0, skipped: 1 });
    expect(await db.jobs.mail.cancel(second.id)).toBe(true);
    expect(await db.jobs.mail.retry({ all: true })).toEqual({ count: 1, skipped: 0 });
    expect(await db.jobs.mail.get(id)).toMatchObject({ state: "waiting", attempts: 0 });
    await workUntilDone({ mail: fail });
    expect(await db.jobs.mail.discard(id)).toEqual({ count: 1 });
    expect(await db.jobs.mail.failed()).toEqual({ items: [], cursor: null });
    expect((await verifyIndexes(db)).status).toBe("clean");
  });

  it("keep a unique key until they end", async () => {
    const first = await db.jobs.mail.enqueue({ to: "Ada" }, { unique: "key" });
    expect(first.isNew).toBe(true);
    expect(await db.jobs.mail.enqueue({ to: "Bob" }, { unique: "key" })).toEqual({
      id: first.id,
      isNew: false,
    });
    const several = await db.jobs.mail.enqueueMany([{ to: "c" }, { to: "c" }], {
      unique: ({ to }) => to,
    });
    expect(several.map(({ isNew }) => isNew)).toEqual([true, false]);
    let runs = 0;
    await workUntilDone({
      mail: async () => {
        runs++;
        if (runs === 1)
          expect((await db.jobs.mail.enqueue({ to: "" }, { unique: "key" })).isNew).toBe(false);
      },
    });
    expect(runs).toBe(2);
    expect((await db.jobs.mail.enqueue({ to: "" }, { unique: "key" })).isNew).toBe(true);
  });

  it("give a key to one of many that ask for it at once", async () => {
    const all = await Promise.all(
      Array.from({ length: 30 }, () => db.jobs.mail.enqueue({ to: "" }, { unique: "key" })),
    );
    expect(all.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(await db.jobs.mail.counts()).toMatchObject({ waiting: 1 });
  });

  it("keep their results", async () => {
    const { id } = await db.jobs.report.enqueue({ n: 20 });
    await workUntilDone({ report: ({ payload }) => ({ doubled: payload.n * 2 }) });
    expect(await db.jobs.report.get(id)).toMatchObject({ state: "done", result: { doubled: 40 } });
    const { items } = await db.jobs.report.list({ state: "done" });
    expect(items).toHaveLength(1);
  });

  it("fail if their result cannot be stored", async () => {
    const { id } = await db.jobs.report.enqueue({ n: 1 });
    await workUntilDone({ report: () => () => undefined });
    expect(await db.jobs.report.get(id)).toMatchObject({ state: "failed" });
  });

  it("complete with the commit of their transaction, once", async () => {
    await db.jobs.mail.enqueueMany([{ to: "Ada" }, { to: "Bob" }]);
    await workUntilDone({
      mail: async ({ payload }, { transaction }) => {
        await transaction(async (tx) => {
          await tx.users.create({ data: { name: payload.to } });
        });
        // The job has succeeded already.
        throw new Error("too late");
      },
    });
    expect(await db.users.count()).toBe(2);
    expect(await db.jobs.mail.counts()).toMatchObject({ failed: 0 });
  });

  it("write nothing with a transaction that throws", async () => {
    await db.jobs.mail.enqueue({ to: "Ada" });
    await workUntilDone({
      mail: async ({ payload, attempt }, { transaction }) => {
        await transaction(async (tx) => {
          await tx.users.create({ data: { name: payload.to } });
          if (attempt < 3) throw new Error("not yet");
        });
      },
    });
    expect(await db.users.count()).toBe(1);
  });

  it("run only as many at once as their definition allows", async () => {
    // Some databases take ten checks in one commit.
    for (let from = 0; from < 12; from += 6)
      await db.jobs.single.enqueueMany(Array.from({ length: 6 }, (_, n) => ({ n: from + n })));
    let [running, most, runs] = [0, 0, 0];
    const single = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 3));
      running--;
      runs++;
    };
    const others = [db.work({ single }), db.work({ single })];
    await workUntilDone({ single });
    for (const worker of others) await worker.stop();
    expect(runs).toBe(12);
    expect(most).toBe(2);
  });
});
