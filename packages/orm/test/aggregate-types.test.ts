import { openKv } from "@keywright/core";
import { expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import { createDatabase, decimal, defineModel } from "../src/index.js";
import { rejection } from "./user-model.js";

const schema = z.object({
  id: z.string(),
  shop: z.string(),
  day: z.date(),
  amount: z.int(),
  weight: z.bigint().optional(),
  price: z.string(),
  note: z.string().optional(),
});
const Sale = defineModel({
  name: "sales",
  schema,
  primaryKey: "id",
  sum: ["amount"],
  indexes: {
    byShop: {
      key: ["shop", "day"],
      sum: ["weight", decimal("price", 2)],
      max: ["amount"],
    },
    byNote: { key: "note" },
  },
});

it("the results of aggregates have the types of their fields", async () => {
  await using kv = await openKv();
  const { sales } = await createDatabase({ kv, models: { sales: Sale } });
  const all = await sales.aggregate({ count: true, sum: { amount: true }, avg: { amount: true } });
  expectTypeOf(all.count).toEqualTypeOf<number>();
  expectTypeOf(all.sum.amount).toEqualTypeOf<number | null>();
  expectTypeOf(all.avg.amount).toEqualTypeOf<number | null>();
  expect(all).not.toHaveProperty("min");
  // @ts-expect-error: it was not asked for.
  expect(all.min).toBe(undefined);
  const groups = await sales.groupBy({
    by: ["shop", "day"],
    sum: { weight: true, price: true },
    max: { amount: true },
  });
  type Group = (typeof groups)[number];
  expectTypeOf<Group["shop"]>().toEqualTypeOf<string>();
  expectTypeOf<Group["day"]>().toEqualTypeOf<Date>();
  expectTypeOf<Group["sum"]>().toEqualTypeOf<{
    readonly weight: bigint | null;
    readonly price: string | null;
  }>();
  expectTypeOf<Group["max"]["amount"]>().toEqualTypeOf<number | null>();
});

it("queries that no aggregate serves do not compile", async () => {
  await using kv = await openKv();
  const { sales } = await createDatabase({ kv, models: { sales: Sale } });
  const refused = [
    // @ts-expect-error: the field is not summed.
    sales.aggregate({ sum: { note: true } }),
    // @ts-expect-error: no index begins with day.
    sales.aggregate({ where: { day: new Date() }, count: true }),
    // @ts-expect-error: the index of shops does not sum amount.
    sales.aggregate({ where: { shop: "a" }, sum: { amount: true } }),
    // @ts-expect-error: the index of notes counts nothing.
    sales.groupBy({ by: ["note"], count: true }),
    // @ts-expect-error: price has no maximum.
    sales.aggregate({ max: { price: true } }),
    // @ts-expect-error: groups are sorted by the fields of by.
    sales.groupBy({ by: ["shop"], count: true, orderBy: { day: "asc" } }),
  ];
  for (const each of refused) {
    expect((await rejection(each)).code).toMatch(/^KW_(QUERY_UNINDEXED|ARGUMENT_INVALID)$/);
  }
});

it("definitions of aggregates of wrong fields do not compile", () => {
  const define = (options: object) => () =>
    defineModel({ name: "sales", schema, primaryKey: "id", ...options } as never);
  expect(define({ sum: ["note"] })).toThrow("decimal");
  // @ts-expect-error: a text can only be summed as a decimal number.
  expect(() => defineModel({ name: "sales", schema, primaryKey: "id", sum: ["note"] })).toThrow();
  const indexes = { byShop: { key: "shop", sum: ["nope"] } } as const;
  // @ts-expect-error: the schema has no such field.
  expect(() => defineModel({ name: "sales", schema, primaryKey: "id", indexes })).toThrow("nope");
});
