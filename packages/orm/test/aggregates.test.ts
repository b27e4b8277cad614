import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, decimal, defineModel, desc } from "../src/index.js";
import { denoKv } from "./faulty-kv.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const Order = defineModel({
  name: "orders",
  schema: z.object({
    id: z.string(),
    customer: z.string(),
    month: z.string(),
    amount: z.int(),
    price: z.string().optional(),
    weight: z.bigint().optional(),
    tags: z.array(z.string()).default([]),
  }),
  primaryKey: "id",
  sum: ["amount"],
  min: ["amount"],
  indexes: {
    byCustomer: {
      key: ["customer", "month"],
      sum: ["amount", "weight", decimal("price", 2)],
      min: ["amount"],
      max: ["amount", "weight"],
    },
    byTag: { key: "tags", each: true, sum: ["amount"] },
  },
});
type Order = z.output<(typeof Order)["schema"]>;

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const open = (on: Kv = kv) => createDatabase({ kv: on, models: { orders: Order } });

const cents = (price: string) => Math.round(Number(price) * 100);

/** The aggregates of an array. */
function aggregatesOf(rows: readonly Order[]) {
  const sum = <T>(values: readonly T[], add: (values: readonly T[]) => unknown) =>
    values.length === 0 ? null : add(values);
  const amounts = rows.map(({ amount }) => amount);
  const weights = rows.flatMap(({ weight }) => weight ?? []);
  const prices = rows.flatMap(({ price }) => price ?? []);
  const total = amounts.reduce((a, b) => a + b, 0);
  return {
    count: rows.length,
    sum: {
      amount: sum(amounts, () => total),
      weight: sum(weights, () => weights.reduce((a, b) => a + b, 0n)),
      price: sum(prices, () => (prices.reduce((a, b) => a + cents(b), 0) / 100).toFixed(2)),
    },
    avg: { amount: sum(amounts, () => total / amounts.length) },
    min: { amount: sum(amounts, () => Math.min(...amounts)) },
    max: {
      amount: sum(amounts, () => Math.max(...amounts)),
      weight: sum(weights, () => weights.toSorted((a, b) => Number(a - b)).at(-1)),
    },
  };
}

const everything = {
  count: true,
  sum: { amount: true, weight: true, price: true },
  avg: { amount: true },
  min: { amount: true },
  max: { amount: true, weight: true },
} as const;

const customers = ["a", "b"];
const months = ["2026-01", "2026-02", "2026-03"];

/** Compares everything that can be asked with an array of the rows. */
async function expectSame(db: Awaited<ReturnType<typeof open>>, rows: readonly Order[]) {
  expect(
    await db.orders.aggregate({ count: true, sum: { amount: true }, min: { amount: true } }),
  ).toEqual({
    count: rows.length,
    sum: { amount: aggregatesOf(rows).sum.amount },
    min: { amount: aggregatesOf(rows).min.amount },
  });
  for (const customer of customers) {
    const own = rows.filter((row) => row.customer === customer);
    expect(await db.orders.aggregate({ where: { customer }, ...everything })).toEqual(
      aggregatesOf(own),
    );
    const groups = await db.orders.groupBy({ by: ["month"], where: { customer }, ...everything });
    const expected = months
      .map((month) => ({ month, rows: own.filter((row) => row.month === month) }))
      .filter((group) => group.rows.length > 0)
      .map((group) => ({ month: group.month, ...aggregatesOf(group.rows) }));
    expect(groups).toEqual(expected);
    expect(
      await db.orders.groupBy({
        by: ["month"],
        where: { customer, month: { gte: "2026-02" } },
        orderBy: { month: "desc" },
        ...everything,
      }),
    ).toEqual(expected.filter(({ month }) => month >= "2026-02").reverse());
  }
  const tagged = ["x", "y"].flatMap((tag) => {
    const own = rows.filter(({ tags }) => tags.includes(tag));
    return own.length === 0
      ? []
      : { tags: tag, count: own.length, sum: { amount: aggregatesOf(own).sum.amount } };
  });
  expect(
    await db.orders.groupBy({ by: ["tags"], index: "byTag", count: true, sum: { amount: true } }),
  ).toEqual(tagged);
}

const orderData = fc.record(
  {
    customer: fc.constantFrom(...customers),
    month: fc.constantFrom(...months),
    amount: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.maxSafeInteger()),
    price: fc.constantFrom("0.5", "-12.34", "1e2", "7"),
    weight: fc.bigInt({ min: -(2n ** 100n), max: 2n ** 100n }),
    tags: fc.array(fc.constantFrom("x", "y"), { maxLength: 3 }),
  },
  { requiredKeys: ["customer", "month", "amount", "tags"] },
);

const write = fc.record({
  kind: fc.constantFrom("create", "update", "delete", "upsert", "transaction"),
  id: fc.constantFrom("1", "2", "3", "4"),
  data: orderData,
});

type Write = typeof write extends fc.Arbitrary<infer W> ? W : never;

async function apply(db: Awaited<ReturnType<typeof open>>, { kind, id, data }: Write) {
  const where = { id };
  // A field that the new data lacks is removed.
  const update = { price: { unset: true }, weight: { unset: true }, ...data } as const;
  if (kind === "create") await db.orders.create({ data: { id, ...data } });
  else if (kind === "update") await db.orders.update({ where, data: update });
  else if (kind === "delete") await db.orders.delete({ where });
  else if (kind === "upsert") await db.orders.upsert({ where, create: { id, ...data }, update });
  else {
    await db.transaction(async (tx) => {
      await tx.orders.upsert({ where, create: { id, ...data }, update });
      const { sum } = await tx.orders.aggregate({ sum: { amount: true } });
      const { items } = await tx.orders.scan();
      const total = items.reduce((before, { amount }) => before + BigInt(amount), 0n);
      expect(sum.amount).toBe(Number(total));
    });
  }
}

async function rowsIn(): Promise<Order[]> {
  const rows: Order[] = [];
  for await (const { value } of kv.list<Order>({ prefix: ["orders"] })) rows.push(value);
  return rows;
}

/** Sums of numbers that are not safe integers are refused, so these examples are left out. */
const isSafe = (rows: readonly Order[]) =>
  rows.reduce((total, { amount }) => total + Math.abs(amount), 0) <= Number.MAX_SAFE_INTEGER;

describe("aggregates", () => {
  it.each([
    ["a database in memory", (on: Kv) => on],
    ["a database with Deno KV's limits", denoKv],
  ])("agree with the rows after any writes on %s", async (_, wrap) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(write, { maxLength: 6 }), { minLength: 1, maxLength: 3 }),
        async (clients) => {
          for await (const { key } of kv.list({ prefix: [] })) await kv.delete(key);
          const run = async (writes: readonly Write[]) => {
            const db = await open(wrap(kv));
            for (const each of writes) {
              await apply(db, each).catch((error: { code?: string }) => {
                const codes = ["KW_UNIQUE_CONSTRAINT", "KW_ROW_NOT_FOUND", "KW_QUERY_INVALID"];
                if (!codes.includes(error.code ?? "")) throw error;
              });
            }
          };
          await Promise.all(clients.map(run));
          const rows = await rowsIn();
          await expectIndexesToMatch(kv, Order as never);
          fc.pre(isSafe(rows));
          await expectSame(await open(wrap(kv)), rows);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("read one entry for each group and limb, and no rows", async () => {
    const reads: number[] = [];
    const db = await createDatabase({
      kv,
      models: { orders: Order },
      onQuery: (event) => reads.push(event.reads),
    });
    const data = Array.from({ length: 50 }, (_, i) => ({
      id: `${i}`,
      customer: "a",
      month: months[i % 2]!,
      amount: i,
    }));
    await db.orders.createMany({ data });
    reads.length = 0;
    const where = { customer: "a" };
    await db.orders.groupBy({ by: ["month"], where, count: true });
    await db.orders.groupBy({ by: ["month"], where, sum: { amount: true } });
    await db.orders.aggregate({ where: { customer: "a", month: months[0]! }, count: true });
    await db.orders.aggregate({ where, max: { amount: true } });
    // Two groups. Each sum has its group's count and one limb. Each maximum is an entry and a row.
    expect(reads).toEqual([2, 4, 1, 6]);
  });

  it("of an empty range are none", async () => {
    const db = await open();
    await db.orders.create({ data: { id: "1", customer: "a", month: "2026-02", amount: 1 } });
    const where = { customer: "a", month: { gt: "2026-03", lt: "2026-01" } };
    expect(await db.orders.aggregate({ where, count: true, sum: { amount: true } })).toEqual({
      count: 0,
      sum: { amount: null },
    });
    expect(await db.orders.count({ where })).toBe(0);
  });

  it("are limited by maxReads", async () => {
    const db = await open();
    for (const month of months) {
      await db.orders.create({ data: { id: month, customer: "a", month, amount: 1 } });
    }
    const query = { where: { customer: "a" }, count: true, maxReads: 2 } as const;
    expect((await rejection(db.orders.aggregate(query))).code).toBe("KW_READ_LIMIT");
    const first = await db.orders.groupBy({ by: ["customer", "month"], count: true, take: 2 });
    expect(first.map(({ month }) => month)).toEqual(months.slice(0, 2));
  });

  it("of the first groups need one group more than take returns", async () => {
    const db = await open();
    const all = ["2026-01", "2026-02", "2026-03", "2026-04", "2026-05", "2026-06"];
    for (const [i, month] of all.entries())
      await db.orders.create({ data: { id: month, customer: "a", month, amount: i } });
    await db.orders.delete({ where: { id: "2026-05" } });
    const query = { by: ["month"], where: { customer: "a" }, count: true, take: 2 } as const;
    const monthsOf = (groups: readonly { month: string }[]) => groups.map(({ month }) => month);
    expect(monthsOf(await db.orders.groupBy({ ...query, maxReads: 3 }))).toEqual(all.slice(0, 2));
    const error = await rejection(db.orders.groupBy({ ...query, maxReads: 2 }));
    expect(error.code).toBe("KW_READ_LIMIT");
    // The counter of a group that has become empty is left, and read too.
    const last = await db.orders.groupBy({
      ...query,
      orderBy: { month: "desc" },
      sum: { amount: true },
    });
    expect(last).toEqual([
      { month: "2026-06", count: 1, sum: { amount: 5 } },
      { month: "2026-04", count: 1, sum: { amount: 3 } },
    ]);
  });

  it("refuse a sum that a number cannot hold exactly", async () => {
    const db = await open();
    const amount = Number.MAX_SAFE_INTEGER;
    for (const id of ["1", "2"])
      await db.orders.create({ data: { id, customer: "a", month: "m", amount } });
    expect(await rejection(db.orders.aggregate({ sum: { amount: true } }))).toMatchObject({
      code: "KW_QUERY_INVALID",
      field: "sum.amount",
    });
    expect(await db.orders.aggregate({ avg: { amount: true } })).toEqual({ avg: { amount } });
    await db.orders.delete({ where: { id: "1" } });
    expect(await db.orders.aggregate({ sum: { amount: true } })).toEqual({ sum: { amount } });
  });

  it("refuse a value that a sum cannot hold, and write nothing", async () => {
    const db = await open();
    const data = { id: "1", customer: "a", month: "m", amount: 1 };
    for (const refused of [{ price: "1.234" }, { price: "ten" }, { weight: 2n ** 127n }]) {
      const error = await rejection(db.orders.create({ data: { ...data, ...refused } }));
      expect(error).toMatchObject({ code: "KW_AMOUNT_INVALID", id: "1" });
    }
    expect(await rowsIn()).toEqual([]);
  });

  it("return the values of dates, descending fields and normalized fields", async () => {
    const Visit = defineModel({
      name: "visits",
      schema: z.object({ id: z.string(), day: z.date(), page: z.string(), ms: z.int() }),
      primaryKey: "id",
      indexes: {
        byDay: { key: desc("day"), sum: ["ms"] },
        byPage: { key: "page", normalize: (page) => page.toLowerCase(), count: true, max: ["day"] },
      },
    });
    const db = await createDatabase({ kv, models: { visits: Visit } });
    const [first, second] = [new Date(1000), new Date(2000)];
    await db.visits.createMany({
      data: [
        { id: "1", day: first, page: "Home", ms: 5 },
        { id: "2", day: second, page: "home", ms: 7 },
        { id: "3", day: first, page: "About", ms: 1 },
      ],
    });
    expect(
      await db.visits.groupBy({ by: ["day"], sum: { ms: true }, orderBy: { day: "desc" } }),
    ).toEqual([
      { day: second, sum: { ms: 7 } },
      { day: first, sum: { ms: 6 } },
    ]);
    expect(await db.visits.groupBy({ by: ["page"], count: true, max: { day: true } })).toEqual([
      { page: "about", count: 1, max: { day: first } },
      { page: "home", count: 2, max: { day: second } },
    ]);
  });

  it("of a decimal field of numbers are exact", async () => {
    const Item = defineModel({
      name: "items",
      schema: z.object({ id: z.string(), price: z.number() }),
      primaryKey: "id",
      sum: [decimal("price", 2)],
    });
    const db = await createDatabase({ kv, models: { items: Item } });
    for (let i = 0; i < 10; i++) await db.items.create({ data: { id: `${i}`, price: 0.1 } });
    expect(await db.items.aggregate({ sum: { price: true } })).toEqual({ sum: { price: 1 } });
    const error = await rejection(db.items.create({ data: { id: "x", price: 0.1 + 0.2 } }));
    expect(error).toMatchObject({ code: "KW_AMOUNT_INVALID", field: "price", scale: 2 });
  });

  it("of a partial index are found only by its name", async () => {
    const Task = defineModel({
      name: "tasks",
      schema: z.object({
        id: z.string(),
        list: z.string(),
        hours: z.int(),
        done: z.boolean().optional(),
      }),
      primaryKey: "id",
      indexes: { byOpen: { key: "list", where: { done: null }, sum: ["hours"] } },
    });
    const db = await createDatabase({ kv, models: { tasks: Task } });
    await db.tasks.create({ data: { id: "1", list: "a", hours: 2 } });
    await db.tasks.create({ data: { id: "2", list: "a", hours: 3, done: true } });
    const query = { where: { list: "a" }, sum: { hours: true } } as const;
    expect((await rejection(db.tasks.aggregate(query))).code).toBe("KW_QUERY_UNINDEXED");
    expect(await db.tasks.aggregate({ ...query, index: "byOpen" })).toEqual({ sum: { hours: 2 } });
  });
});

describe("a query of aggregates", () => {
  const untyped = async () =>
    (await open()).orders as unknown as Record<string, (query: unknown) => Promise<unknown>>;

  it.each([
    ["argument", "aggregate", {}],
    ["sum", "aggregate", { sum: true }],
    ["sum.nope", "aggregate", { sum: { nope: true } }],
    ["count", "aggregate", { count: 1 }],
    ["by", "groupBy", { count: true }],
    ["by", "groupBy", { by: [], count: true }],
    ["by", "groupBy", { by: ["month", "month"], count: true }],
    ["orderBy", "groupBy", { by: ["month"], count: true, orderBy: { customer: "asc" } }],
    ["take", "groupBy", { by: ["customer"], count: true, take: 0 }],
    ["filter", "aggregate", { count: true, filter: () => true }],
  ])("with an invalid %s is refused (%#)", async (name, method, query) => {
    const error = await rejection((await untyped())[method]!(query));
    expect(error).toMatchObject({ code: "KW_ARGUMENT_INVALID", argument: name });
  });

  it("are sorted by an aggregate, filtered and limited as an array of groups", async () => {
    const db = await open();
    const amounts = [5, -3, 40, 12, 7, 7, 100, 1];
    const data = amounts.map((amount, i) => ({
      id: `${i}`,
      customer: `c${i % 4}`,
      month: months[i % 3]!,
      amount,
      ...(i % 2 === 0 && { price: `${amount}.50`, weight: BigInt(i) }),
    }));
    await db.orders.createMany({ data });
    const query = { by: ["customer"], ...everything } as const;
    const all = await db.orders.groupBy(query);
    const customersOf = (groups: readonly { customer: string }[]) =>
      groups.map(({ customer }) => customer);
    expect(customersOf(all)).toEqual(["c0", "c1", "c2", "c3"]);
    expect(all.map(({ sum }) => sum.amount)).toEqual([12, 4, 140, 13]);
    const bySum = await db.orders.groupBy({ ...query, orderBy: { sum: { amount: "desc" } } });
    expect(customersOf(bySum)).toEqual(["c2", "c3", "c0", "c1"]);
    const byPrice = await db.orders.groupBy({ ...query, orderBy: { sum: { price: "asc" } } });
    // Groups without a value come last, in the order of the index.
    expect(byPrice.map(({ sum }) => sum.price)).toEqual(["13.00", "141.00", null, null]);
    const byWeight = await db.orders.groupBy({ ...query, orderBy: { max: { weight: "desc" } } });
    expect(customersOf(byWeight)).toEqual(["c2", "c0", "c1", "c3"]);
    const smallest = { orderBy: { min: { amount: "asc" } }, take: 2 } as const;
    expect(customersOf(await db.orders.groupBy({ ...query, ...smallest }))).toEqual(["c1", "c3"]);

    const having = async (conditions: NonNullable<Parameters<typeof ask>[0]>) =>
      customersOf(await ask(conditions));
    const ask = (conditions: {
      count?: number | { gte?: number };
      sum?: { amount?: { gt?: number; lte?: number }; price?: { gt?: string } };
      max?: { weight?: { equals?: bigint } };
    }) => db.orders.groupBy({ ...query, having: conditions as never });
    expect(await having({ sum: { amount: { gt: 4, lte: 13 } } })).toEqual(["c0", "c3"]);
    expect(await having({ sum: { price: { gt: "99.9" } } })).toEqual(["c2"]);
    expect(await having({ max: { weight: { equals: 4n } } })).toEqual(["c0"]);
    expect(await having({ count: 2, sum: { amount: { gt: 12 } } })).toEqual(["c2", "c3"]);
    const limited = { having: { sum: { amount: { gt: 4 } } }, take: 2 } as const;
    expect(customersOf(await db.orders.groupBy({ ...query, ...limited }))).toEqual(["c0", "c2"]);
    const last = { ...limited, orderBy: { customer: "desc" } } as const;
    expect(customersOf(await db.orders.groupBy({ ...query, ...last }))).toEqual(["c3", "c2"]);
  });

  it("are sorted by booleans, and by values of different types in the order of keys", async () => {
    const value = z.union([z.string(), z.number(), z.boolean()]);
    const Answer = defineModel({
      name: "answers",
      schema: z.object({ id: z.string(), question: z.string(), value }),
      primaryKey: "id",
      indexes: { byQuestion: { key: "question", max: ["value"] } },
    });
    const db = await createDatabase({ kv, models: { answers: Answer } });
    const values = [true, "b", 7, false, "a", 1];
    await db.answers.createMany({
      data: values.map((each, i) => ({ id: `${i}`, question: `q${i}`, value: each })),
    });
    const groups = await db.answers.groupBy({
      by: ["question"],
      max: { value: true },
      orderBy: { max: { value: "asc" } },
    });
    expect(groups.map(({ max }) => max.value)).toEqual(["a", "b", 1, 7, false, true]);
  });

  it("are the first of all groups in an order by an aggregate, for each number of them", async () => {
    const { orders } = await open();
    const data = Array.from({ length: 60 }, (_, i) => ({
      id: `o${i}`,
      customer: `c${String(i).padStart(2, "0")}`,
      month: "2026-01",
      amount: (i * 7) % 11,
      // Groups without a value, and many that are equal.
      ...(i % 5 !== 0 && { price: `${(i * 3) % 4}.00` }),
    }));
    await orders.createMany({ data });
    for (const orderBy of [
      { sum: { amount: "desc" } },
      { sum: { amount: "asc" } },
      { sum: { price: "desc" } },
    ] as const) {
      const query = { by: ["customer"], sum: { amount: true, price: true }, orderBy } as const;
      const all = await orders.groupBy(query);
      expect(all).toHaveLength(60);
      for (const take of [1, 2, 3, 7, 29, 30, 31, 59, 60, 61])
        expect(await orders.groupBy({ ...query, take })).toEqual(all.slice(0, take));
    }
  });

  it("refuse an order and conditions of aggregates that the call does not ask for", async () => {
    const { orders } = await open();
    const query = { by: ["customer"], sum: { amount: true } } as const;
    const refused = [
      // @ts-expect-error: the call does not count.
      orders.groupBy({ ...query, orderBy: { count: "asc" } }),
      // @ts-expect-error: the call does not ask for the sum of this field.
      orders.groupBy({ ...query, orderBy: { sum: { weight: "asc" } } }),
      // @ts-expect-error: no direction.
      orders.groupBy({ ...query, orderBy: { sum: { amount: "up" } } }),
      // @ts-expect-error: the groups have no such field.
      orders.groupBy({ ...query, orderBy: { month: "asc" } }),
      orders.groupBy({ ...query, orderBy: { customer: "asc", sum: { amount: "asc" } } as never }),
      // @ts-expect-error: the call does not count.
      orders.groupBy({ ...query, having: { count: 1 } }),
      // @ts-expect-error: there is no such condition.
      orders.groupBy({ ...query, having: { sum: { amount: { above: 1 } } } }),
      // @ts-expect-error: conditions are by field.
      orders.groupBy({ ...query, having: { sum: { gt: 1 } } }),
      orders.groupBy({ ...query, having: { sum: { amount: { gt: Number.NaN } } } }),
    ];
    const places = [];
    for (const call of refused) places.push((await rejection(call)) as { argument?: unknown });
    expect(places.map(({ argument }) => argument)).toEqual([
      ...new Array(5).fill("orderBy"),
      "having.count",
      "having.sum.amount.above",
      "having.sum.gt",
      "having.sum.amount.gt",
    ]);
  });

  it("that no index serves says what to declare", async () => {
    const orders = await untyped();
    const refused = async (method: string, query: unknown) =>
      (await rejection(orders[method]!(query))) as { code?: string; suggestion?: string };
    expect(
      await refused("aggregate", { where: { month: "m" }, sum: { amount: true } }),
    ).toMatchObject({
      code: "KW_QUERY_UNINDEXED",
      suggestion: '{ key: ["month"], sum: ["amount"] }',
    });
    expect(await refused("aggregate", { max: { month: true } })).toMatchObject({
      code: "KW_QUERY_UNINDEXED",
      suggestion: 'max: ["month"]',
    });
    // Its groups would have to be read for each customer.
    expect((await refused("groupBy", { by: ["month"], count: true })).code).toBe(
      "KW_QUERY_UNINDEXED",
    );
    // A row with two tags would count twice.
    expect((await refused("aggregate", { index: "byTag", sum: { amount: true } })).code).toBe(
      "KW_QUERY_UNINDEXED",
    );
  });
});

describe("the definition of an aggregate", () => {
  const schema = z.object({
    id: z.string(),
    list: z.string(),
    float: z.number(),
    text: z.string(),
    mixed: z.union([z.int(), z.bigint()]),
    many: z.array(z.string()),
  });
  it.each([
    ["indexes.byList.sum", "fractions", { sum: ["float"] }],
    ["indexes.byList.sum", "decimal", { sum: ["text"] }],
    ["indexes.byList.sum", "integers, bigints or decimals only", { sum: ["mixed"] }],
    ["indexes.byList.sum", "scale", { sum: [decimal("float", 16)] }],
    ["indexes.byList.sum", "no field", { sum: ["nope"] }],
    ["indexes.byList.min", "cannot hold", { min: ["many"] }],
    ["indexes.byList.max", "is in the key", { max: ["list"] }],
  ])("at %s is refused: %s", (place, reason, options) => {
    const define = () =>
      defineModel({
        name: "rows",
        schema,
        primaryKey: "id",
        indexes: { byList: { key: "list", ...options } },
      } as never);
    expect(define).toThrow(place);
    expect(define).toThrow(reason);
  });

  it("uses an index that the model declares for minima and maxima", async () => {
    const Row = defineModel({
      name: "rows",
      schema: z.object({ id: z.string(), list: z.string(), n: z.number() }),
      primaryKey: "id",
      indexes: {
        byList: { key: "list", min: ["n"], max: ["n"] },
        byListAndN: { key: ["list", desc("n")] },
      },
    });
    const db = await createDatabase({ kv, models: { rows: Row } });
    await db.rows.createMany({ data: [1.5, -2, 7].map((n) => ({ id: `${n}`, list: "a", n })) });
    expect(
      await db.rows.aggregate({ where: { list: "a" }, min: { n: true }, max: { n: true } }),
    ).toEqual({ min: { n: -2 }, max: { n: 7 } });
    const prefixes = new Set<unknown>();
    for await (const { key } of kv.list({ prefix: [] })) prefixes.add(key[0]);
    expect([...prefixes].sort()).toEqual([
      "__keywright",
      "rows",
      "rows_by_list",
      "rows_by_list_and_n",
    ]);
  });
});
