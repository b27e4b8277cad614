import { openKv } from "@keywright/core";
import { openShops } from "./database.js";
import { importProducts } from "./import-products.js";
import { logCalls } from "./log-calls.js";
import { placeOrder } from "./place-order.js";
import { bestSellers, categories, monthlyTotals, salesRank, waitingCustomers } from "./reports.js";
import { OutOfStockError } from "./take-stock.js";

const calls: string[] = [];
await using kv = await openKv();
const shops = await openShops(kv, [logCalls(0, (line) => calls.push(line))]);

// Each tenant has its own customers, products and orders. The other one cannot see them.
const tea = shops.scope({ tenantId: "tea" });
const toys = shops.scope({ tenantId: "toys" });

console.log("The tea shop imports a list of products, twice:");
const list = [
  { sku: "assam", name: "Assam", category: "tea", cents: 890, stock: 40 },
  { sku: "oolong", name: "Oolong", category: "tea", cents: 1450, stock: 12 },
  { sku: "sencha", name: "Sencha", category: "tea", cents: 1200, stock: 25 },
  { sku: "kettle", name: "Kettle", category: "tools", cents: 3900, stock: 3 },
  { sku: "cup", name: "Cup", category: "tools", cents: 750, stock: 30 },
  { sku: "broken", name: "Broken line", category: "tools", cents: -1, stock: 0 },
];
for (const { created, skipped, failed } of [
  await importProducts(tea, list),
  await importProducts(tea, list),
]) {
  console.log(
    `  ${created} created, ${skipped} skipped, refused lines: ${failed.map((i) => i + 1)}`,
  );
}
console.log(`  Categories: ${(await categories(tea)).join(", ")}`);
console.log(`  Products of the toy shop: ${await toys.products.count()}`);

const ada = { email: "ada@example.com", firstName: "Ada", lastName: "Lovelace" };
const bob = { email: "bob@example.com", firstName: "Bob", lastName: "Noyce" };
await tea.customers.createMany({ data: [ada, bob] });
// The same email is free in another shop.
await toys.customers.create({ data: ada });
await tea.coupons.create({ data: { code: "WELCOME", cents: 500 } });

console.log("\nCustomers order:");
const first = await placeOrder(tea, {
  email: ada.email,
  items: { assam: 4, cup: 2 },
  coupons: ["WELCOME"],
  orderedAt: new Date("2026-01-15"),
});
for (const { quantity, name, total } of first.lines) {
  console.log(`  ${quantity} × ${name.padEnd(8)}${money(total)}`);
}
console.log(`  with the coupon WELCOME: ${money(first.cents)}`);
await tea.orders.update({ where: { id: first.id }, data: { status: "shipped" } });
await placeOrder(tea, {
  email: bob.email,
  items: { assam: 1, kettle: 1, sencha: 3 },
  orderedAt: new Date("2026-02-03"),
});
await placeOrder(tea, {
  email: bob.email,
  items: { oolong: 2 },
  orderedAt: new Date("2026-02-20"),
});

console.log("\nAda orders a cup and 9 kettles. Nothing of it is written:");
const before = await tea.stockChanges.count();
await placeOrder(tea, { email: ada.email, items: { cup: 1, kettle: 9 } }).catch((error) => {
  if (!(error instanceof OutOfStockError)) throw error;
  console.log(`  ${error.message}`);
});
const cup = await tea.products.findUniqueOrThrow({ where: { sku: "cup" } });
const added = (await tea.stockChanges.count()) - before;
console.log(`  Cups in stock: ${cup.stock}. New entries in the audit log: ${added}`);

console.log("\nTotals by month:");
for (const { month, count, sum } of await monthlyTotals(tea)) {
  console.log(`  ${month}  ${count} ${count === 1 ? "order " : "orders"} ${money(sum.cents ?? 0)}`);
}

console.log("\nBest sellers, two on each page:");
for (const page of [1, 2]) {
  const products = await bestSellers(tea, page, 2);
  console.log(
    `  Page ${page}: ${products.map(({ name, sold }) => `${name} (${sold})`).join(", ")}`,
  );
}
console.log(`  Place of the cup: ${await salesRank(tea, "cup")}`);

console.log("\nCustomers with open orders:");
for (const { fullName, email } of await waitingCustomers(tea)) {
  console.log(`  ${fullName} <${email}>`);
}

console.log("\nThe cup is deleted, restored, deleted and purged:");
const where = { sku: "cup" };
await tea.products.delete({ where });
await printCup("deleted");
await tea.products.restore({ where });
await printCup("restored");
await tea.products.delete({ where });
await tea.products.purge({ where });
await printCup("purged");

console.log(`\nThe middleware has logged ${calls.length} calls.`);

async function printCup(state: string): Promise<void> {
  const product = await tea.products.findUnique({ where });
  const marked = await tea.products.findUnique({ where, withDeleted: true });
  const line = { orderId: first.id, position: 2 };
  const { sku, name } = await tea.orderLines.findUniqueOrThrow({ where: line });
  const found = `on sale: ${yes(product)}  stored: ${yes(marked)}`;
  console.log(`  ${state.padEnd(10)}${found}  order line: ${name}, ${sku}`);
}

function yes(row: object | null): string {
  return row === null ? "no " : "yes";
}

function money(cents: number): string {
  return `€${(cents / 100).toFixed(2)}`.padStart(8);
}
