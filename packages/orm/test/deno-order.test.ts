import { openKv } from "@keywright/core";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, desc } from "../src/index.js";

const Item = defineModel({
  name: "items",
  schema: z.object({ id: z.int(), at: z.union([z.number(), z.bigint(), z.string()]) }),
  primaryKey: "id",
  indexes: {
    byAt: { key: "at" },
    byAtDown: { key: desc("at") },
  },
});

/** Opens items on a database whose bigints sort before its numbers. */
async function itemsOf(values: readonly (number | bigint | string)[]) {
  const kv = await openKv(":memory:", { compat: "deno" });
  const { items } = await createDatabase({ kv, models: { items: Item } });
  await items.createMany({ data: values.map((at, id) => ({ id, at })) });
  return { items, [Symbol.asyncDispose]: () => kv.close() };
}

it("a descending part over numbers and bigints is the reverse of the ascending one", async () => {
  const value = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.bigInt({ min: -3n, max: 3n }));
  const bounds = fc.option(
    fc.oneof(
      fc.record({ gte: fc.integer({ min: -3, max: 3 }) }),
      fc.record({ lt: fc.bigInt({ min: -3n, max: 3n }) }),
      fc.record({ gt: fc.bigInt({ min: -3n, max: 3n }) }),
    ),
    { nil: undefined },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(value, { maxLength: 12 }),
      bounds,
      fc.integer({ min: 1, max: 4 }),
      async (values, at, take) => {
        await using database = await itemsOf(values);
        const { items } = database;
        const ordered = async (index: "byAt" | "byAtDown", order: "asc" | "desc") => {
          const found: unknown[] = [];
          let cursor: string | null = null;
          do {
            const where = at === undefined ? {} : { at };
            const query = { index, where, orderBy: { at: order }, take, cursor };
            const page: { items: { at: unknown }[]; cursor: string | null } = await items.findMany(
              query as never,
            );
            found.push(...page.items.map((item) => item.at));
            ({ cursor } = page);
          } while (cursor !== null);
          return found;
        };
        const up = await ordered("byAt", "asc");
        expect(await ordered("byAtDown", "asc")).toEqual(up);
        expect(await ordered("byAt", "desc")).toEqual([...up].reverse());
        expect(await ordered("byAtDown", "desc")).toEqual([...up].reverse());
        const bigints = up.filter((one) => typeof one === "bigint");
        expect(up.slice(0, bigints.length)).toEqual(bigints);
      },
    ),
    { numRuns: 60 },
  );
});

it.each(["byAt", "byAtDown"] as const)(
  "a range of bigints does not end within more numbers than a batch has (%s)",
  async (index) => {
    const numbers = Array.from({ length: 1500 }, (_, n) => n / 4);
    await using database = await itemsOf([...numbers, 5n, 6n, 7n, "a", "b"]);
    const { items } = database;
    for (const [order, expected] of [
      ["asc", [6n, 7n]],
      ["desc", [7n, 6n]],
    ] as const) {
      const page = await items.findMany({
        index,
        where: { at: { gte: 6n } },
        orderBy: { at: order },
      } as never);
      expect((page as { items: { at: unknown }[] }).items.map(({ at }) => at)).toEqual(expected);
    }
  },
);
