// What an import or another program may have stored in place of the records that Keywright keeps
// of rows: no call loops, throws an untyped error, or harms rows.
import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  type Database,
  defineMigration,
  defineModel,
  migrate,
  migrationStatus,
  SystemEntryError,
} from "../../src/index.js";
import { findFailedRows, planMigration, verifyIndexes } from "../../src/migrate.js";
import { denoKv } from "../faulty-kv.js";
import { hostile, isTyped, withEachHostileEntry } from "../hostile-values.js";

/** Makes all calls. Throws the first error, or one that is not typed. */
async function makeAll(calls: readonly (() => Promise<unknown>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const call of calls) await call().catch((error: unknown) => errors.push(error));
  for (const error of errors) if (!isTyped(error)) throw error;
  if (errors.length > 0) throw errors[0];
}

const before = z.object({ id: z.string(), name: z.string() });
const after = z.object({ id: z.string(), name: z.string().min(2) });
const Old = defineModel({ name: "people", schema: before, primaryKey: "id" });
const New = defineModel({ name: "people", schema: after, primaryKey: "id" });
const doubled = defineMigration({
  model: New,
  from: before,
  to: after,
  up: (row) => ({ ...row, name: row.name.repeat(2) }),
});

it.each(["failed", "transform"])(
  "no record of a change of rows (%s) makes a call throw an untyped error",
  async (name) => {
    const open = (kv: Kv) => createDatabase({ kv, models: { people: New }, migrations: [doubled] });
    const prepare = async () => {
      const kv = await openKv();
      const old = await createDatabase({ kv, models: { people: Old } });
      for (const [id, text] of [
        ["a", "ab"],
        ["b", ""],
      ] as const)
        await old.people.create({ data: { id, name: text } });
      expect((await migrate(await open(kv))).status).toBe("failed-rows");
      return kv;
    };
    let entries = 0;
    const refused = await withEachHostileEntry(["__keywright", name], prepare, async (kv) => {
      entries++;
      const db = await open(kv);
      const page = await findFailedRows(db, { model: "people" }).catch((error: unknown) => error);
      // The time of the mark is that of its commit, so the row that failed is now older than it.
      if (!(page instanceof Error)) expect(page).toMatchObject({ items: [{ id: "b" }] });
      await makeAll([
        () => findFailedRows(db, { model: "people" }),
        () => db.people.scan(),
        () => db.people.update({ where: { id: "a" }, data: { name: "other" } }),
        () => planMigration(db),
        () => migrationStatus(db),
        () => migrate(db),
        () => db.people.delete({ where: { id: "b" } }),
      ]);
    });
    expect(entries).toBe(hostile.length);
    // Of a mark, only the versionstamp counts.
    if (name !== "transform") expect(refused).toBeGreaterThan(0);
  },
);

const Author = defineModel({
  name: "authors",
  schema: z.object({ id: z.string(), team: z.string() }),
  primaryKey: "id",
  live: true,
  indexes: { byTeam: { key: "team" } },
});
const Book = defineModel({
  name: "books",
  schema: z.object({ id: z.string(), authorId: z.string() }),
  primaryKey: "id",
  live: true,
  indexes: { byAuthor: { key: "authorId" } },
  relations: { author: belongsTo("authors", "authorId", { onDelete: "cascade" }) },
});

it.each(["changes", "refs"])(
  "no number that only grows (%s) makes a call throw an untyped error",
  async (name) => {
    const open = (kv: Kv) => createDatabase({ kv, models: { authors: Author, books: Book } });
    const prepare = async () => {
      const kv = await openKv(":memory:", { compat: "deno" });
      const db = await open(kv);
      await db.authors.create({ data: { id: "a", team: "red" } });
      await db.books.create({ data: { id: "1", authorId: "a" } });
      return kv;
    };
    let entries = 0;
    await withEachHostileEntry(["__keywright", name], prepare, async (kv) => {
      entries++;
      const db = await open(kv);
      const first = async () => {
        for await (const rows of db.authors.watchMany({ where: { team: "red" } })) return rows;
        return undefined;
      };
      expect(await first()).toEqual([{ id: "a", team: "red" }]);
      await makeAll([
        () => db.books.create({ data: { id: "2", authorId: "a" } }),
        () => db.authors.update({ where: { id: "a" }, data: { team: "blue" } }),
        () => verifyIndexes(db, { repair: true }),
        () => migrate(db),
        () => db.authors.delete({ where: { id: "a" } }),
      ]).catch((error: unknown) => {
        if (!isTyped(error)) throw error;
      });
      // A delete that was refused leaves the author, and one that was made takes the books along.
      const author = await db.authors.findUnique({ where: { id: "a" } });
      const { items } = await db.books.findMany({ where: { authorId: "a" } });
      expect(items.length > 0).toBe(author !== null);
    });
    expect(entries).toBeGreaterThanOrEqual(hostile.length);
  },
);

it("no time of an expiry makes a call throw an untyped error", async () => {
  const open = (kv: Kv) => createDatabase({ kv: denoKv(kv), models: { authors: Author } });
  const prepare = async () => {
    const kv = await openKv();
    const db = await open(kv);
    await db.authors.create({ data: { id: "a", team: "red" }, expireIn: 60_000 });
    return kv;
  };
  let [entries, refused] = [0, 0];
  for (const value of [...hostile, -1, 0.5, Number.POSITIVE_INFINITY, 1e15, 2 ** 53]) {
    await using kv = await prepare();
    for await (const { key } of kv.list({ prefix: ["__keywright", "expiry"] })) {
      entries++;
      await kv.set(key, value);
    }
    const db = await open(kv);
    await makeAll([
      () => db.authors.findUnique({ where: { id: "a" } }),
      () => db.authors.findMany({ where: { team: "red" } }),
      () => db.authors.update({ where: { id: "a" }, data: { team: "blue" } }),
      () => db.authors.updateMany({ where: { team: "blue" }, data: { team: "green" } }),
      () => verifyIndexes(db, { repair: true }),
      () =>
        db.authors.upsert({
          where: { id: "a" },
          create: { id: "a", team: "new" },
          update: { team: "new" },
        }),
      () => db.authors.delete({ where: { id: "a" } }),
    ]).catch((error: unknown) => {
      if (!isTyped(error)) throw error;
      if (error instanceof SystemEntryError) refused++;
    });
  }
  // -1 and infinity are no times either.
  expect(refused).toBe(hostile.length + 2);
  expect(entries).toBe(hostile.length + 5);
});

const Order = defineModel({
  name: "orders",
  schema: z.object({ id: z.string(), customer: z.string(), amount: z.int() }),
  primaryKey: "id",
  count: true,
  sum: ["amount"],
  min: ["amount"],
  indexes: { byCustomer: { key: "customer", sum: ["amount"], max: ["amount"] } },
});

it.each([
  ["the counters and sums", ["__keywright", "count"]],
  ["the smallest amounts", ["orders_all_by_amount"]],
  ["the largest amounts of customers", ["orders_by_customer_by_amount"]],
])("no record of %s makes a call throw an untyped error", async (_, prefix) => {
  const open = (kv: Kv) => createDatabase({ kv, models: { orders: Order } });
  const prepare = async () => {
    const kv = await openKv();
    const db = await open(kv);
    for (const id of ["a", "b"])
      await db.orders.create({ data: { id, customer: "ada", amount: 7 } });
    return kv;
  };
  let entries = 0;
  await withEachHostileEntry(prefix, prepare, async (kv) => {
    entries++;
    const db = await open(kv);
    const where = { customer: "ada" };
    await makeAll([
      () => db.orders.count(),
      () => db.orders.aggregate({ count: true, sum: { amount: true }, min: { amount: true } }),
      () => db.orders.aggregate({ where, sum: { amount: true }, max: { amount: true } }),
      () => db.orders.groupBy({ by: ["customer"], sum: { amount: true }, max: { amount: true } }),
      () => db.orders.create({ data: { id: "c", customer: "ada", amount: 1 } }),
      () => db.orders.update({ where: { id: "a" }, data: { amount: { increment: 2 } } }),
      () => db.orders.delete({ where: { id: "b" } }),
    ]).catch((error: unknown) => {
      if (!isTyped(error)) throw error;
    });
    // A repair makes them right, whatever was there.
    await verifyIndexes(db, { repair: true });
    expect((await verifyIndexes(db)).status).toBe("clean");
    const { items } = await db.orders.scan();
    const amounts = items.map(({ amount }) => amount);
    expect(
      await db.orders.aggregate({
        count: true,
        sum: { amount: true },
        min: { amount: true },
      }),
    ).toEqual({
      count: items.length,
      sum: { amount: amounts.reduce((sum, amount) => sum + amount, 0) },
      min: { amount: Math.min(...amounts) },
    });
  });
  expect(entries).toBeGreaterThanOrEqual(hostile.length);
});

const Removed = defineModel({ ...Order, name: "removed" });

async function dropping(kv: EmbeddedKv): Promise<Database<{ orders: typeof Order }>> {
  const both = await createDatabase({ kv, models: { orders: Order, removed: Removed } });
  const data = { id: "a", customer: "ada", amount: 7 };
  await both.orders.create({ data });
  await both.removed.create({ data });
  const db = await createDatabase({ kv, models: { orders: Order } });
  // As if the process had been killed when it had begun the removal.
  const entry = await kv.get<object>(["__keywright", "catalog", "removed"]);
  await kv.set(entry.key, { ...entry.value, format: 0 });
  return db;
}

it("no record of a model that is being dropped makes a call throw an untyped error", async () => {
  const prepare = async () => {
    const kv = await openKv();
    await dropping(kv);
    return kv;
  };
  for (const kind of ["schema", "count"]) {
    await withEachHostileEntry(["__keywright", kind, "removed"], prepare, async (kv) => {
      const db = await createDatabase({ kv, models: { orders: Order } });
      try {
        await makeAll([
          () => planMigration(db),
          () => migrationStatus(db),
          () => migrate(db, { dropModels: ["removed"] }),
        ]);
      } finally {
        expect(await db.orders.findUnique({ where: { id: "a" } })).not.toBeNull();
        expect((await verifyIndexes(db)).status).toBe("clean");
      }
    });
  }
});

it.each([
  { place: "orders" },
  { place: "__keywright" },
  { otherLayout: { primaryKey: ["id"], place: "__keywright" } },
  { indexes: { all: { place: "orders" } } },
  { indexes: { all: { place: "__keywright" } } },
  { indexes: { all: { prefix: "__keywright" } } },
  { indexes: { all: { leftPlaces: ["__keywright"] } } },
])("the removal of a model with %j leaves the others and their records", async (hostilePlaces) => {
  await using kv = await openKv();
  const db = await dropping(kv);
  const index = { state: "readable", prefix: "gone", fields: [], unique: false, normalized: false };
  const { indexes = {}, ...others } = hostilePlaces as Record<string, Record<string, object>>;
  const key = ["__keywright", "catalog", "removed"];
  const { value } = await kv.get<{ indexes: object }>(key);
  const merged = Object.entries(indexes).map(([name, own]) => [name, { ...index, ...own }]);
  await kv.set(key, {
    ...value,
    ...others,
    indexes: { ...value?.indexes, ...Object.fromEntries(merged) },
  });
  await migrate(db, { dropModels: ["removed"] }).catch((error: unknown) => {
    if (!isTyped(error)) throw error;
  });
  const again = await createDatabase({ kv, models: { orders: Order } });
  expect(await again.orders.findUnique({ where: { id: "a" } })).not.toBeNull();
  expect(await again.orders.aggregate({ count: true, sum: { amount: true } })).toEqual({
    count: 1,
    sum: { amount: 7 },
  });
});
