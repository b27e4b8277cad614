import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { factory, type TestDatabase, testDatabase } from "@keywright/orm/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Shop } from "../src/database.js";
import { importProducts } from "../src/import-products.js";
import { logCalls } from "../src/log-calls.js";
import { models } from "../src/models.js";
import { placeOrder } from "../src/place-order.js";
import {
  bestSellers,
  categories,
  largestOrders,
  monthlyTotals,
  salesRank,
  waitingCustomers,
} from "../src/reports.js";
import { OutOfStockError, takeStock } from "../src/take-stock.js";

let db: TestDatabase<typeof models>;
let shop: Shop;
let other: Shop;
const calls: string[] = [];
beforeEach(async () => {
  calls.length = 0;
  const middleware = logCalls(0, (line) => calls.push(line));
  db = await testDatabase(models, { hooks: { orderLines: takeStock }, middleware });
  shop = db.scope({ tenantId: "tea" });
  other = db.scope({ tenantId: "toys" });
});
afterEach(() => db.close());

/** Factories of a shop's rows. */
const rowsOf = (of: Shop) => ({
  products: factory(of.products, {
    defaults: ({ sequence }) => ({
      sku: `p${sequence}`,
      name: `Product ${sequence}`,
      category: "tea",
      cents: 100,
      stock: 10,
    }),
    traits: { rare: { stock: 1 } },
  }),
  customers: factory(of.customers, {
    defaults: ({ sequence }) => ({
      email: `c${sequence}@example.com`,
      firstName: "Ada",
      lastName: `No. ${sequence}`,
    }),
  }),
});

it("creates an order with its lines and coupons, and takes the stock", async () => {
  const { products, customers } = rowsOf(shop);
  const { email, id: customerId } = await customers.create();
  await products.createMany(2);
  await shop.coupons.create({ data: { code: "TEN", cents: 10 } });
  const order = await placeOrder(shop, {
    email,
    items: { p1: 3, p2: 1 },
    coupons: ["TEN"],
    orderedAt: new Date("2026-03-31T12:00:00Z"),
  });
  expect(order).toMatchObject({ tenantId: "tea", customerId, month: "2026-03", cents: 390 });
  expect(order.lines.map(({ sku, total }) => [sku, total])).toEqual([
    ["p1", 300],
    ["p2", 100],
  ]);
  const where = { sku: "p1" };
  expect(await shop.products.findUnique({ where })).toMatchObject({ stock: 7, sold: 3 });
  const { items } = await shop.stockChanges.findMany({ where });
  expect(items).toMatchObject([{ orderId: order.id, change: -3 }]);
  const coupon = { where: { code: "TEN" }, include: { orders: true } } as const;
  expect((await shop.coupons.findUnique(coupon))?.orders).toMatchObject([{ id: order.id }]);
});

it("lists the orders of a coupon by their amount, which may change later", async () => {
  const { products, customers } = rowsOf(shop);
  const { email } = await customers.create();
  await products.createMany(1);
  await shop.coupons.create({ data: { code: "ONE", cents: 1 } });
  const ids: string[] = [];
  for (const count of [1, 3, 2]) {
    const { id } = await placeOrder(shop, { email, items: { p1: count }, coupons: ["ONE"] });
    ids.push(id);
  }
  const [small, large, middle] = ids;
  expect((await largestOrders(shop, "ONE", 2)).map(({ id }) => id)).toEqual([large, middle]);
  await shop.orders.update({ where: { id: small! }, data: { cents: 1000 } });
  expect((await largestOrders(shop, "ONE", 2)).map(({ id }) => id)).toEqual([small, large]);
});

it("creates nothing of an order that has a wrong coupon, or more than is in stock", async () => {
  const { products, customers } = rowsOf(shop);
  const { email } = await customers.create();
  await products.create();
  await products.with("rare").create();
  const wrong = placeOrder(shop, { email, items: { p1: 1 }, coupons: ["NONE"] });
  await expect(wrong).rejects.toMatchObject({ code: "KW_ROW_NOT_FOUND", model: "coupons" });
  const large = placeOrder(shop, { email, items: { p1: 1, p2: 2 } });
  await expect(large).rejects.toThrow(OutOfStockError);
  expect(await shop.products.findUnique({ where: { sku: "p1" } })).toMatchObject({ stock: 10 });
  expect(await shop.orders.count()).toBe(0);
  expect(await shop.orderLines.count()).toBe(0);
  expect(await shop.stockChanges.count()).toBe(0);
});

it("sells the last piece to one of many customers", async () => {
  const { products, customers } = rowsOf(shop);
  await products.with("rare").create();
  const baskets = (await customers.createMany(4)).map(({ email }) => ({ email, items: { p1: 1 } }));
  const results = await Promise.allSettled(baskets.map((basket) => placeOrder(shop, basket)));
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await shop.products.findUnique({ where: { sku: "p1" } })).toMatchObject({ stock: 0 });
  expect(await shop.stockChanges.count()).toBe(1);
});

it("imports the products that are new, also if a deleted one is in the list", async () => {
  const line = { sku: "a", name: "A", category: "tea", cents: 1, stock: 1 };
  await importProducts(shop, [line]);
  await shop.products.delete({ where: { sku: "a" } });
  const list = [line, { ...line, sku: "b" }, { ...line, sku: "c", cents: -1 }];
  expect(await importProducts(shop, list)).toEqual({ created: 1, skipped: 1, failed: [2] });
  expect(await shop.products.count()).toBe(1);
  expect(await categories(shop)).toEqual(["tea"]);
});

it("reports the orders of one shop", async () => {
  for (const [of, quantity] of [
    [shop, 1],
    [other, 5],
  ] as const) {
    const { products, customers } = rowsOf(of);
    const [ada, bob] = await customers.createMany(2);
    await products.createMany(3);
    const basket = { email: ada!.email, orderedAt: new Date("2026-01-01") };
    const sent = await placeOrder(of, { ...basket, items: { p2: 2 * quantity } });
    await of.orders.update({ where: { id: sent.id }, data: { status: "shipped" } });
    await placeOrder(of, { ...basket, email: bob!.email, items: { p3: quantity } });
  }
  expect(await monthlyTotals(shop)).toEqual([{ month: "2026-01", count: 2, sum: { cents: 300 } }]);
  expect(await waitingCustomers(shop)).toEqual([
    { fullName: "Ada No. 2", email: "c2@example.com" },
  ]);
  expect(await bestSellers(shop, 1, 1)).toEqual([{ name: "Product 2", sold: 2 }]);
  expect(await bestSellers(shop, 2, 1)).toEqual([{ name: "Product 3", sold: 1 }]);
  expect(await salesRank(shop, "p3")).toBe(2);
  expect(await salesRank(shop, "p4")).toBe(null);
});

it("logs calls", async () => {
  await shop.products.count();
  expect(calls).toEqual([expect.stringMatching(/^products\.count took \d+\.\d ms$/)]);
});

it("prints what happens", async () => {
  const program = fileURLToPath(new URL("../dist/main.js", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program]);
  const lines = stdout.split("\n");
  expect(lines.length).toBeLessThan(60);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
  for (const line of [
    "  0 created, 5 skipped, refused lines: 6",
    "  with the coupon WELCOME:   €45.60",
    "  kettle: only 2 in stock",
    "  2026-02  2 orders  €112.90",
    "  Page 2: Oolong (2), Cup (2)",
    "  Bob Noyce <bob@example.com>",
  ]) {
    expect(lines).toContain(line);
  }
  expect(stdout).toMatch(/deleted +on sale: no +stored: yes +order line: Cup, cup\n/);
  expect(stdout).toMatch(/purged +on sale: no +stored: no +order line: Cup, null\n/);
});
