import { openKv } from "@keywright/core";
import fc from "fast-check";
import { expect, it } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, defineModel, hasMany } from "../src/index.js";

const Customer = defineModel({
  name: "customers",
  schema: z.object({ id: z.string(), isShown: z.boolean() }),
  primaryKey: "id",
  indexes: { byShown: { key: "isShown" } },
  relations: { orders: hasMany("orders", "customerId") },
});
const Order = defineModel({
  name: "orders",
  schema: z.object({ id: z.string(), customerId: z.string(), isOpen: z.boolean() }),
  primaryKey: "id",
  indexes: { byCustomer: { key: "customerId" }, byOpen: { key: ["isOpen", "customerId"] } },
  relations: { customer: belongsTo("customers", "customerId") },
});
const models = { customers: Customer, orders: Order };

/**
 * How many orders customers have, one after another: few, so that all are read in one pass, many,
 * so that the pass would skip most of them, or more than one list has.
 */
const runOfCustomers = fc.record({
  orders: fc.constantFrom(0, 1, 3, 40, 700),
  customers: fc.integer({ min: 1, max: 70 }),
  shown: fc.constantFrom(1, 3, 9),
});

it("related rows are found, counted and tested, however many each row has", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(runOfCustomers, { minLength: 1, maxLength: 4 }), async (runs) => {
      await using kv = await openKv();
      const db = await createDatabase({ kv, models });
      const customers: { id: string; isShown: boolean; orders: number }[] = [];
      for (const { orders, customers: count, shown } of runs) {
        // Few customers have 700 orders, because to write them takes long.
        const most = orders === 700 ? 2 : count;
        for (let i = 0; i < most; i++) {
          const id = `customer ${String(customers.length).padStart(4, "0")}`;
          customers.push({ id, isShown: customers.length % shown === 0, orders });
        }
      }
      const orders = customers.flatMap(({ id, orders: count }) =>
        Array.from({ length: count }, (_, i) => {
          const number = String(i).padStart(4, "0");
          return { id: `${id} ${number}`, customerId: id, isOpen: i === 2 };
        }),
      );
      await db.customers.createMany({
        data: customers.map(({ id, isShown }) => ({ id, isShown })),
      });
      await db.orders.createMany({ data: orders });

      const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);
      const having = (test: (count: number) => boolean) =>
        idsOf(customers.filter(({ orders: count }) => test(count)));
      const found = async (condition: object): Promise<string[]> => {
        const query = { where: { orders: condition }, orderBy: { id: "asc" } } as const;
        return idsOf((await db.customers.findMany(query)).items);
      };
      expect(await found({ some: {} })).toEqual(having((count) => count > 0));
      expect(await found({ none: {} })).toEqual(having((count) => count === 0));
      expect(await found({ some: { isOpen: true } })).toEqual(having((count) => count > 2));
      expect(await found({ none: { isOpen: true } })).toEqual(having((count) => count <= 2));
      const walked = await db.customers.findMany({ where: { orders: { some: { isOpen: true } } } });
      expect(idsOf(walked.items)).toEqual(having((count) => count > 2));

      // The customers that are shown may lie far apart, with the orders of others between theirs.
      const shown = customers.filter(({ isShown }) => isShown);
      const { items } = await db.customers.findMany({
        where: { isShown: true },
        include: { orders: { take: 5 }, _count: { orders: true } },
      });
      expect(items.map(({ id, _count }) => ({ id, orders: _count.orders }))).toEqual(
        shown.map(({ id, orders: count }) => ({ id, orders: count })),
      );
      for (const { id, orders: included } of items) {
        const own = orders.filter(({ customerId }) => customerId === id);
        expect(idsOf(included)).toEqual(idsOf(own.slice(0, 5)));
      }
      const whole = await db.customers.findMany({
        where: { isShown: true },
        include: { orders: true },
      });
      for (const { id, orders: included } of whole.items)
        expect(included).toHaveLength(orders.filter(({ customerId }) => customerId === id).length);
    }),
    { numRuns: 12 },
  );
});

it("rows that lie far apart have all of their related rows", async () => {
  await using kv = await openKv();
  const db = await createDatabase({ kv, models });
  const counts = Array.from({ length: 90 }, (_, i) => (i === 0 || i === 80 ? 1100 : i % 30));
  const idOf = (i: number) => `customer ${String(i).padStart(4, "0")}`;
  const isShown = (i: number) => i % 8 === 0;
  await db.customers.createMany({
    data: counts.map((_, i) => ({ id: idOf(i), isShown: isShown(i) })),
  });
  await db.orders.createMany({
    data: counts.flatMap((count, i) =>
      Array.from({ length: count }, (_, n) => {
        return { id: `${idOf(i)} ${n}`, customerId: idOf(i), isOpen: false };
      }),
    ),
  });
  const { items } = await db.customers.findMany({
    where: { isShown: true },
    include: { orders: true, _count: { orders: true } },
  });
  const expected = [...counts.entries()].filter(([i]) => isShown(i)).map(([, count]) => count);
  expect(items.map(({ orders }) => orders.length)).toEqual(expected);
  expect(items.map(({ _count }) => _count.orders)).toEqual(expected);
  expect(
    items.flatMap(({ id, orders }) => orders.filter((order) => order.customerId !== id)),
  ).toEqual([]);
});
