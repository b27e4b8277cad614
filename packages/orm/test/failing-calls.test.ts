import { type Kv, type KvEntry, openKv } from "@keywright/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  type Database,
  defineModel,
  migrate,
  migrationStatus,
  resumeDeletes,
} from "../src/index.js";
import {
  findDanglingReferences,
  findDuplicates,
  planMigration,
  verifyIndexes,
} from "../src/migrate.js";
import { FailingKv, fewTurns } from "./failing-kv.js";
import { models as togetherModels } from "./together-models.js";

/** Copies a field of its tag. */
const Label = defineModel({
  name: "labels",
  schema: z.object({ id: z.string(), tag: z.string(), n: z.int().default(0) }),
  primaryKey: "id",
  count: true,
  indexes: { byTag: { key: "tag" } },
  relations: { of: belongsTo("shades", "tag", { onDelete: "cascade", copy: { n: "n" } }) },
});
const Shade = defineModel({
  name: "shades",
  schema: z.object({ id: z.string(), n: z.int() }),
  primaryKey: "id",
});
const models = { ...togetherModels, labels: Label, shades: Shade };
type Db = Database<typeof models>;

/**
 * The models of what goes through all models, which takes a number of calls for each: these have
 * unique and ranked indexes, counters and sums, rows that expire or are deleted, and copies.
 */
const fewModels = {
  customers: defineModel({ ...models.customers, relations: {} }),
  labels: Label,
  shades: Shade,
};
type FewModels = typeof fewModels;

/** The same models before some of their indexes were added, and a field was removed. */
const earlierModels = {
  customers: defineModel({
    ...fewModels.customers,
    indexes: { byEmail: models.customers.indexes.byEmail },
  }),
  labels: defineModel({ ...Label, count: false }),
  shades: defineModel({ ...Shade, schema: Shade.schema.extend({ note: z.string().default("") }) }),
} as unknown as FewModels;

const tenant = "t";
const customer = (id: string, score = 5) => ({ tenant, id, email: `${id}@`, score });
const byId = (id: string) => ({ where: { tenant, id } });
const a = byId("a");
const ofCustomer = { where: { tenant, customerId: "a" } };

/** Fills a database, and returns its entries, to be written again for each failure. */
async function filledEntries(fill: (kv: Kv) => Promise<void>): Promise<KvEntry<unknown>[]> {
  const kv = await openKv();
  await fill(kv);
  const entries: KvEntry<unknown>[] = [];
  for await (const entry of kv.list({ prefix: [] })) entries.push(entry);
  await kv.close();
  return entries;
}

async function fillFew(db: Database<FewModels>): Promise<void> {
  await db.customers.createMany({ data: ["a", "b", "c", "d"].map((id, i) => customer(id, i)) });
  await db.shades.create({ data: { id: "s", n: 1 } });
  await db.labels.createMany({ data: ["1", "2"].map((id) => ({ id, tag: "s" })) });
  await db.labels.create({ data: { id: "3", tag: "s" }, expireIn: 100_000 });
}

async function fillAll(kv: Kv): Promise<void> {
  const db = await createDatabase({ kv, models });
  await fillFew(db as never);
  await db.tags.createMany({ data: ["x", "y"].map((name) => ({ tenant, name })) });
  const orders = ["o1", "o2", "o3"].map((id, i) => ({ tenant, id, customerId: "a", amount: i }));
  await db.orders.createMany({ data: orders });
  await db.profiles.create({ data: { tenant, id: "p", customerId: "a" } });
  await db.customerTags.createMany({
    data: ["x", "y"].map((tag) => ({ tenant, customerId: "a", tag })),
  });
  await db.customers.delete(byId("d"));
}

/** Fills a database with rows of earlier models. */
const fillAs = (schema: FewModels) => async (kv: Kv) => {
  const db = await createDatabase({ kv, models: schema });
  await fillFew(db);
  await db.customers.delete(byId("d"));
};

async function openFilled(entries: readonly KvEntry<unknown>[]): Promise<Kv> {
  const kv = await openKv();
  const operation = kv.atomic();
  for (const { key, value, expireAt } of entries) {
    operation.set(key, value, expireAt === undefined ? {} : { expireIn: 100_000 });
  }
  await operation.commit();
  return kv;
}

const score = { increment: 3 };
const operations: Record<string, (db: Db) => Promise<unknown>> = {
  findUnique: (db) =>
    db.customers.findUnique({ ...a, include: { orders: true, tags: true, profile: true } }),
  "findUnique by a unique index": (db) =>
    db.customers.findUnique({ where: { tenant, email: "a@" } }),
  findMany: (db) =>
    db.customers.findMany({
      where: { tenant },
      include: { orders: { include: { customer: true } }, tags: true, _count: { orders: true } },
    }),
  "findMany by related rows": (db) =>
    db.customers.findMany({ where: { tenant, orders: { some: { state: "open" } } } }),
  "findMany with a condition on a related row": (db) =>
    db.orders.findMany({
      where: { ...ofCustomer.where, customer: { is: { tenant, email: "a@" } } },
    }),
  scan: (db) => db.customers.scan({ include: { orders: true } }),
  count: (db) => db.orders.count({ where: { tenant, state: "open" } }),
  exists: (db) => db.orders.exists(ofCustomer),
  aggregate: (db) => db.orders.aggregate({ ...ofCustomer, count: true, sum: { amount: true } }),
  groupBy: (db) =>
    db.orders.groupBy({
      by: ["state"],
      where: { tenant },
      count: true,
      max: { amount: true },
    }),
  rank: (db) => db.customers.rank({ index: "byScore", where: { tenant, id: "b" } }),
  "findMany at a rank": (db) =>
    db.customers.findMany({
      where: { tenant },
      orderBy: { score: "asc" },
      skip: 1,
      take: 2,
    }),
  distinct: (db) => db.orders.distinct({ field: "state", where: { tenant } }),
  create: (db) => db.customers.create({ data: customer("e") }),
  "create with related rows": (db) =>
    db.customers.create({
      data: {
        ...customer("e"),
        orders: {
          create: [
            { id: "o8", amount: 1 },
            { id: "o9", amount: 2 },
          ],
        },
        tags: {
          connect: [
            { tenant, name: "x" },
            { tenant, name: "y" },
          ],
        },
      },
    }),
  createMany: (db) =>
    db.orders.createMany({
      data: [1, 2, 3].map((n) => ({ tenant, id: `n${n}`, customerId: "b", amount: n })),
    }),
  "createMany, atomic": (db) =>
    db.orders.createMany({
      data: [1, 2, 3].map((n) => ({ tenant, id: `n${n}`, customerId: "b", amount: n })),
      atomic: true,
    }),
  "createMany, skipDuplicates": (db) =>
    db.customers.createMany({
      data: ["a", "e", "f"].map((id) => customer(id)),
      skipDuplicates: true,
    }),
  update: (db) => db.customers.update({ ...a, data: { score, email: "z@" } }),
  "update of copied fields": (db) => db.shades.update({ where: { id: "s" }, data: { n: 2 } }),
  "update of a row that expires": (db) =>
    db.labels.update({ where: { id: "3" }, data: { tag: "s" } }),
  "update with related rows": (db) =>
    db.customers.update({
      ...a,
      data: {
        score,
        orders: {
          update: { where: { tenant, id: "o1" }, data: { amount: 7 } },
          create: { id: "o9", amount: 2 },
        },
      },
    }),
  updateMany: (db) =>
    db.customers.updateMany({ where: { tenant, score: { gte: 0 } }, data: { score } }),
  "updateMany, atomic": (db) =>
    db.customers.updateMany({
      where: { tenant, score: { gte: 0 } },
      data: { score },
      atomic: true,
    }),
  upsert: (db) => db.customers.upsert({ ...a, create: customer("a"), update: { score } }),
  delete: (db) => db.customers.delete(a),
  deleteMany: (db) => db.orders.deleteMany({ where: { tenant, state: "open" } }),
  "delete in a cascade": (db) => db.shades.delete({ where: { id: "s" } }),
  restore: (db) => db.customers.restore(byId("d")),
  purge: (db) => db.customers.purge({ before: new Date(Date.now() + 1000) }),
  transaction: (db) =>
    db.transaction(async (tx) => {
      await tx.customers.findMany({ where: { tenant }, include: { orders: true } });
      await tx.customers.update({ ...a, data: { score } });
      await tx.orders.delete(byId("o1"));
      await tx.orders.create({ data: { tenant, id: "n", customerId: "b", amount: 1 } });
      await tx.customers.count({ where: { tenant } });
    }),
  "transaction of parallel calls": (db) =>
    db.transaction(async (tx) => {
      await Promise.allSettled(
        [1, 2, 3].map((n) => tx.orders.update({ ...byId(`o${n}`), data: { amount: 9 } })),
      );
    }),
  scope: (db) =>
    db
      .scope({ tenant })
      .orders.updateMany({ where: { state: "open" }, data: { amount: { increment: 1 } } }),
  watch: (db) => firstReport(db.customers.watch(a)),
  watchMany: (db) =>
    firstReport(
      db.orders.watchMany({
        where: { tenant, customerId: "a" },
        include: { customer: true },
      }),
    ),
  findDanglingReferences: (db) => findDanglingReferences(db, { model: "orders" }),
  findDuplicates: (db) => findDuplicates(db, { model: "customers", index: "byEmail" }),
  resumeDeletes: (db) => resumeDeletes(db),
};

async function firstReport(stream: ReadableStream<unknown>): Promise<void> {
  const reader = stream.getReader();
  try {
    await reader.read();
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

const unhandled: unknown[] = [];
const note = (error: unknown) => void unhandled.push(error);
beforeAll(() => void process.on("unhandledRejection", note));
afterAll(() => void process.off("unhandledRejection", note));

/** Lets a call of a filled database fail, or none. Returns how many calls the operation made. */
async function failCall(
  entries: readonly KvEntry<unknown>[],
  open: (kv: Kv) => Promise<() => Promise<unknown>>,
  failsAt: number,
): Promise<number> {
  const kv = await openFilled(entries);
  try {
    const failing = new FailingKv(kv);
    const operation = await open(failing.kv);
    failing.calls = 0;
    failing.failsAt = failsAt;
    const error = await operation().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    const { running, calls, views } = failing;
    if (calls < failsAt) expect(error).toBeUndefined();
    await fewTurns();
    expect({ failsAt, running, views, later: failing.calls - calls }).toEqual({
      failsAt,
      running: 0,
      views: 0,
      later: 0,
    });
    return calls;
  } finally {
    await kv.close();
  }
}

/** So many failures are tried at once, each in a database of its own. */
const atOnce = 16;

/** Lets the first call of the database fail, then the second one, until the last one. */
async function failEachCall(
  fill: (kv: Kv) => Promise<void>,
  open: (kv: Kv) => Promise<() => Promise<unknown>>,
): Promise<number> {
  const entries = await filledEntries(fill);
  const calls = await failCall(entries, open, Number.POSITIVE_INFINITY);
  for (let from = 1; from <= calls; from += atOnce) {
    const length = Math.min(atOnce, calls - from + 1);
    await Promise.all(Array.from({ length }, (_, i) => failCall(entries, open, from + i)));
    expect(unhandled).toEqual([]);
  }
  return calls;
}

it.each(Object.entries(operations))(
  "a failed call of the database leaves nothing behind: %s",
  async (_, operation) => {
    const open = async (kv: Kv) => {
      const db = await createDatabase({ kv, models });
      return () => operation(db);
    };
    expect(await failEachCall(fillAll, open)).toBeGreaterThan(0);
  },
);

it.each<[string, FewModels, (db: Database<FewModels>) => Promise<unknown>]>([
  ["migrationStatus", fewModels, (db) => migrationStatus(db)],
  ["planMigration", earlierModels, (db) => planMigration(db)],
  ["verifyIndexes", fewModels, (db) => verifyIndexes(db, { repair: true })],
  ["migrate, with nothing to do", fewModels, (db) => migrate(db)],
  ["migrate", earlierModels, (db) => migrate(db, { accept: true })],
])("a failed call of the database leaves nothing behind: %s", async (_, schema, operation) => {
  const open = async (kv: Kv) => {
    const db = await createDatabase({ kv, models: fewModels });
    return () => operation(db);
  };
  expect(await failEachCall(fillAs(schema), open)).toBeGreaterThan(10);
});
