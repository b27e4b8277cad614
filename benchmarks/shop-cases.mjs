// The cases about related rows.
import assert from "node:assert/strict";
import { batchSize, customerCount, customerIdOf, shopOf } from "./shop.mjs";

const counted = 100;
const page = 20;

const open = ({ status }) => status === "open";
const idsOf = (rows) => rows.map(({ id }) => id);
const customersWith = ({ customers, purchases }, test) => {
  const found = new Set(purchases.filter(test).map(({ customerId }) => customerId));
  return idsOf(customers.filter(({ id }) => found.has(id)));
};

export const shopCases = [
  {
    name: "withOpen",
    title: "customers with an open purchase, of 500",
    needs: "withOpen",
    hasShop: true,
    perCall: 5,
    input: () => undefined,
    run: (store) => store.withOpen(),
    verify: async (store, c) => {
      assert.deepEqual(idsOf(await store.withOpen()), customersWith(shopOf(c.count), open));
    },
  },
  {
    name: "withoutPurchases",
    title: "customers without purchases, of 500",
    needs: "withoutPurchases",
    hasShop: true,
    perCall: 2,
    input: () => undefined,
    run: (store) => store.withoutPurchases(),
    verify: async (store, c) => {
      const shop = shopOf(c.count);
      const active = new Set(customersWith(shop, () => true));
      const expected = idsOf(shop.customers).filter((id) => !active.has(id));
      assert.deepEqual(idsOf(await store.withoutPurchases()), expected);
    },
  },
  {
    name: "purchaseCounts",
    title: `${counted} customers with the number of their purchases`,
    needs: "purchaseCounts",
    hasShop: true,
    perCall: 5,
    input: (c) => customerIdOf(c.random(Math.max(1, customerCount(c.count) - counted))),
    run: (store, from) => store.purchaseCounts(from, counted),
    verify: async (store, c) => {
      const { customers, purchases } = shopOf(c.count);
      const expected = customers.slice(3, 3 + counted).map(({ id }) => ({
        id,
        count: purchases.filter(({ customerId }) => customerId === id).length,
      }));
      const found = await store.purchaseCounts(customerIdOf(3), counted);
      assert.deepEqual(
        found.map(({ id, count }) => ({ id, count })),
        expected,
      );
    },
  },
  {
    name: "withLabels",
    title: `a page of ${page} purchases with their labels`,
    needs: "withLabels",
    hasShop: true,
    perCall: 10,
    input: (c) => `purchase-${String(c.random(900)).padStart(6, "0")}`,
    run: (store, from) => store.withLabels(from, page),
    verify: async (store, c) => {
      const { purchases, labels, purchaseLabels } = shopOf(c.count);
      const expected = purchases.slice(5, 5 + page).map(({ id }) => ({
        id,
        labels: labels
          .filter((label) =>
            purchaseLabels.some((each) => each.purchaseId === id && each.labelId === label.id),
          )
          .map(({ name }) => name),
      }));
      const found = await store.withLabels("purchase-000005", page);
      assert.deepEqual(
        found.map(({ id, labels: own }) => ({ id, labels: own.map(({ name }) => name) })),
        expected,
      );
    },
  },
  {
    name: "byCustomerName",
    title: `the first ${page} open purchases by the name of the customer`,
    needs: "byCustomerName",
    hasShop: true,
    perCall: 10,
    input: () => undefined,
    run: (store) => store.byCustomerName(page),
    verify: async (store, c) => {
      const { customers, purchases } = shopOf(c.count);
      const names = new Map(customers.map(({ id, name }) => [id, name]));
      const sorted = purchases
        .filter(open)
        .map(({ customerId }) => names.get(customerId))
        .sort();
      const found = await store.byCustomerName(page);
      assert.deepEqual(
        found.map(({ customerId }) => names.get(customerId)),
        sorted.slice(0, page),
      );
    },
  },
  {
    name: "updateBatch",
    title: `update of ${batchSize.toLocaleString("en")} rows by a condition, per row`,
    needs: "updateBatch",
    hasShop: true,
    isWrite: true,
    isFixed: true,
    perRound: 1,
    rowsOfOperation: batchSize,
    input: (c) => [c.random(4), c.random(10_000)],
    run: (store, [batch, stage]) => store.updateBatch(batch, stage),
    verify: async (store) => {
      assert.equal(await store.updateBatch(1, 77), batchSize);
      assert.equal(await store.updateBatch(1, 78), batchSize);
    },
  },
  {
    name: "settle",
    title: "a transaction that reads the purchases of a customer and writes their sum",
    needs: "settle",
    hasShop: true,
    isWrite: true,
    perCall: 20,
    input: (c) => customerIdOf(c.random(customerCount(c.count))),
    run: (store, id) => store.settle(id),
    verify: async (store, c) => {
      const { purchases } = shopOf(c.count);
      const id = customerIdOf(5);
      const own = purchases.filter(({ customerId }) => customerId === id);
      assert.equal(
        await store.settle(id),
        own.reduce((sum, { cents }) => sum + cents, 0),
      );
    },
  },
];
