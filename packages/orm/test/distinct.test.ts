import { type EmbeddedKv, openKv } from "@keywright/core";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, desc, type IndexedWhere } from "../src/index.js";
import { rejection } from "./user-model.js";

const Order = defineModel({
  name: "orders",
  schema: z.object({
    id: z.string(),
    customer: z.string(),
    month: z.number(),
    day: z.date().optional(),
    tags: z.array(z.string()).default([]),
    note: z.string().default(""),
  }),
  primaryKey: "id",
  indexes: {
    byCustomer: { key: ["customer", "month"] },
    byNewest: { key: ["customer", desc("month")], include: ["month"] },
    byDay: { key: "day" },
    byTag: { key: "tags", each: true },
    byNote: { key: "note", normalize: (note) => note.toLowerCase() },
    byMonth: { key: "month", include: ["month"] },
  },
});

describe("distinct", () => {
  let kv: EmbeddedKv;

  beforeEach(async () => {
    kv = await openKv();
  });
  afterEach(() => kv.close());

  const open = (maxReads = 1000) => createDatabase({ kv, models: { orders: Order }, maxReads });

  it("returns what an array of the rows gives, for any rows and ranges", async () => {
    const value = fc.integer({ min: -2, max: 4 });
    const row = fc.record({ customer: fc.constantFrom("a", "b", "c"), month: value });
    const range = fc.record({ gte: value, lt: value }, { requiredKeys: [] });
    const order = fc.constantFrom("asc" as const, "desc" as const);
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 20 }), range, order, async (rows, month, dir) => {
        await using own = await openKv();
        const { orders } = await createDatabase({ kv: own, models: { orders: Order } });
        await orders.createMany({ data: rows.map((each, n) => ({ id: `${n}`, ...each })) });
        const sorted = <T extends number | string>(values: readonly T[]) => {
          const unique = [...new Set(values)].sort((a, b) => (a < b ? -1 : 1));
          return dir === "asc" ? unique : unique.reverse();
        };
        const months = rows.filter((each) => {
          const { gte = Number.NEGATIVE_INFINITY, lt = Number.POSITIVE_INFINITY } = month;
          return each.customer === "a" && each.month >= gte && each.month < lt;
        });
        const isRange = Object.keys(month).length > 0;
        const where = isRange ? { customer: "a", month } : { customer: "a" };
        const expected = sorted(months.map((each) => each.month));
        const query = { field: "month", where, order: dir } as const;
        expect(await orders.distinct(query)).toEqual(expected);
        expect(await orders.distinct({ ...query, index: "byNewest" })).toEqual(expected);
        expect(await orders.distinct({ field: "customer", order: dir })).toEqual(
          sorted(rows.map(({ customer }) => customer)),
        );
      }),
      { numRuns: 60 },
    );
  });

  it("reads as many entries as there are values, whatever the number of rows", async () => {
    const reads: number[] = [];
    const db = await createDatabase({
      kv,
      models: { orders: Order },
      onQuery: (event) => {
        if (event.operation === "distinct") reads.push(event.reads);
      },
    });
    const data = Array.from({ length: 300 }, (_, n) => ({
      id: `${n}`,
      customer: `c${n % 3}`,
      month: n % 2,
    }));
    await db.orders.createMany({ data });
    const index = "byCustomer";
    const customers = await db.orders.distinct({ field: "customer", index });
    expect(customers).toEqual(["c0", "c1", "c2"]);
    expectTypeOf(customers).toEqualTypeOf<string[]>();
    expect(await db.orders.distinct({ field: "customer", index, take: 2 })).toEqual(["c0", "c1"]);
    expect(await db.orders.distinct({ field: "month" })).toEqual([0, 1]);
    // The index of months contains them, so no row is read.
    expect(reads).toEqual([6, 4, 2]);
  });

  it("returns values as rows have them, and leaves out rows without one", async () => {
    const { orders } = await open();
    const day = new Date(5);
    const base = { customer: "a", month: 1 };
    await orders.create({ data: { id: "1", ...base, note: "Red", day } });
    await orders.create({ data: { id: "2", ...base, note: "red" } });
    await orders.create({ data: { id: "3", ...base, note: "Blue" } });
    expect(await orders.distinct({ field: "note" })).toEqual(["Blue", "Red"]);
    const days = await orders.distinct({ field: "day", index: "byDay" });
    expectTypeOf(days).toEqualTypeOf<Date[]>();
    expect(days).toEqual([day]);
    expect(await orders.distinct({ field: "id" })).toEqual(["1", "2", "3"]);
  });

  it("takes a range of the field", async () => {
    const { orders } = await open();
    const data = [1, 2, 3, 4].map((month) => ({ id: `${month}`, customer: "a", month }));
    await orders.createMany({ data });
    const months = (month: object, order?: "asc" | "desc") => {
      const where = { customer: "a", month } as IndexedWhere<typeof Order>;
      return orders.distinct({ field: "month", where, order });
    };
    expect(await months({ between: [2, 3] })).toEqual([2, 3]);
    expect(await months({ between: [2, 3] }, "desc")).toEqual([3, 2]);
    expect(await months({ gt: 1, lte: 3 }, "desc")).toEqual([3, 2]);
    expect(await rejection(months({ in: [1, 2] }))).toMatchObject({
      code: "KW_ARGUMENT_INVALID",
      argument: "where.month",
    });
  });

  it.each([undefined, "deno"] as const)(
    "continues after each type of a union and after NaN (compat %s)",
    async (compat) => {
      const Mixed = defineModel({
        name: "mixed",
        schema: z.object({
          id: z.int(),
          group: z.string(),
          value: z.union([
            z.instanceof(Uint8Array),
            z.string(),
            z.number(),
            z.nan(),
            z.bigint(),
            z.boolean(),
          ]),
        }),
        primaryKey: "id",
        indexes: {
          byValue: { key: "value" },
          byGroup: { key: ["group", "value"] },
          byDescending: { key: ["group", desc("value")] },
        },
      });
      await using own = await openKv(":memory:", { compat });
      const { mixed } = await createDatabase({ kv: own, models: { mixed: Mixed } });
      const bytes = new Uint8Array([1]);
      const numbers = [-1, 0.5, Number.NaN];
      const bigints = [-3n, 7n];
      const middle = compat === "deno" ? [...bigints, ...numbers] : [...numbers, ...bigints];
      const expected = [bytes, "", "b", ...middle, false, true];
      const values = [...expected, ...expected].reverse();
      const groups = ["a", "b"];
      await mixed.createMany({
        data: groups.flatMap((group, g) =>
          values.map((value, i) => ({ id: g * 100 + i, group, value })),
        ),
      });
      const where = { group: "b" };
      for (const order of ["asc", "desc"] as const) {
        const inOrder = order === "asc" ? expected : expected.toReversed();
        expect(await mixed.distinct({ field: "value", order })).toEqual(inOrder);
        for (const index of ["byGroup", "byDescending"] as const)
          expect(await mixed.distinct({ field: "value", where, index, order })).toEqual(inOrder);
        const range = {
          OR: [
            { group: "b", value: { gt: 0 } },
            { group: "b", value: "b" },
          ],
        } as const;
        const inRange = inOrder.filter((value) => value === "b" || value === 0.5);
        expect(
          await mixed.distinct({ field: "value", where: range, index: "byGroup", order }),
        ).toEqual(inRange);
      }
    },
  );

  it("sees the writes of its transaction", async () => {
    const db = await open();
    await db.orders.create({ data: { id: "1", customer: "a", month: 1 } });
    await db.transaction(async (tx) => {
      await tx.orders.create({ data: { id: "2", customer: "b", month: 1 } });
      await tx.orders.delete({ where: { id: "1" } });
      expect(await tx.orders.distinct({ field: "customer" })).toEqual(["b"]);
    });
  });

  it("is limited by maxReads", async () => {
    const { orders } = await open(5);
    const data = ["a", "b", "c"].map((customer) => ({ id: customer, customer, month: 1 }));
    await orders.createMany({ data });
    const error = await rejection(orders.distinct({ field: "customer", index: "byCustomer" }));
    expect(error).toMatchObject({ code: "KW_READ_LIMIT" });
  });

  it("refuses what no index serves", async () => {
    const { orders } = await open();
    const refused = [
      // @ts-expect-error: no index begins with customer and note.
      orders.distinct({ field: "note", where: { customer: "a" } }),
      // @ts-expect-error: the rows without a day are left out, so the index has to be named.
      orders.distinct({ field: "day" }),
      // @ts-expect-error: an array is not a value of a key.
      orders.distinct({ field: "tags" }),
      // @ts-expect-error: there is no such field.
      orders.distinct({ field: "months" }),
      // @ts-expect-error: no direction.
      orders.distinct({ field: "month", order: "up" }),
      orders.distinct({ field: "month", take: 0 }),
    ];
    const codes = await Promise.all(refused.map(async (each) => (await rejection(each)).code));
    expect(codes).toEqual([
      "KW_QUERY_UNINDEXED",
      "KW_QUERY_UNINDEXED",
      "KW_QUERY_UNINDEXED",
      "KW_ARGUMENT_INVALID",
      "KW_ARGUMENT_INVALID",
      "KW_ARGUMENT_INVALID",
    ]);
  });
});
