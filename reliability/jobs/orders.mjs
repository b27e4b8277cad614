import { createDatabase, defineJob, defineModel } from "@keywright/orm";
import * as z from "zod";

/** One for each job, stored by the transaction that enqueues the job. */
const Order = defineModel({
  name: "orders",
  schema: z.object({ producer: z.int(), n: z.int() }),
  primaryKey: ["producer", "n"],
});
/** What handlers write. A job that commits twice leaves two receipts of its order. */
const Receipt = defineModel({
  name: "receipts",
  schema: z.object({ id: z.ulid(), order: z.string(), kind: z.string(), priority: z.int() }),
  primaryKey: "id",
  count: true,
  indexes: { byOrder: { key: "order" }, byKind: { key: "kind", count: true } },
});

const schema = z.object({ order: z.string() });
/** Killed processes use up attempts too. */
const retry = { attempts: 100, backoff: "fixed", delay: 20 };
const jobs = {
  /** Commits with its job. */
  pay: defineJob({ name: "pay", schema, retry }),
  /** Commits before its job ends, so it may run again. */
  note: defineJob({ name: "note", schema, retry }),
  /** Fails, and ends in the list of failed jobs. */
  refuse: defineJob({ name: "refuse", schema, retry: { ...retry, attempts: 2 } }),
};

export const priorities = 3;
export const kinds = Object.keys(jobs);

export async function openOrders(kv) {
  return await createDatabase({ kv, models: { orders: Order, receipts: Receipt }, jobs });
}

export function orderOf(producer, n) {
  return `${producer}/${n}`;
}

/** Returns the kind of the job of an order. */
export function kindOf(n) {
  if (n % 50 === 7) return "refuse";
  return n % 5 === 1 ? "note" : "pay";
}

/** Stores orders from `start` to `end`, exclusive, each with its job. */
export async function addOrders(db, producer, start, end) {
  await db.transaction(async (tx) => {
    for (let n = start; n < end; n++) {
      await tx.orders.create({ data: { producer, n } });
      const priority = (n * 7) % priorities;
      await tx.jobs[kindOf(n)].enqueue({ order: orderOf(producer, n) }, { priority });
    }
  });
}

/** Some handlers throw before their commit, and some after it, which changes nothing. */
export const handlers = (db, onEnd) => ({
  pay: async ({ payload: { order }, attempt, priority }, { transaction }) => {
    const n = Number(order.split("/")[1]);
    if (n % 10 === 3 && attempt === 1) throw new Error("fails at first");
    await transaction((tx) => tx.receipts.create({ data: { order, kind: "pay", priority } }));
    onEnd();
    if (n % 10 === 4) throw new Error("fails after its commit");
  },
  note: async ({ payload: { order }, priority }) => {
    await db.receipts.create({ data: { order, kind: "note", priority } });
    onEnd();
  },
  refuse: async ({ isLastAttempt }) => {
    if (isLastAttempt) onEnd();
    throw new Error("always fails");
  },
});

/** Returns how many jobs have not ended. */
export async function unfinished(db) {
  const topics = await db.jobs.stored();
  return topics.reduce(
    (sum, { waiting, delayed, running }) => sum + waiting + delayed + running,
    0,
  );
}
