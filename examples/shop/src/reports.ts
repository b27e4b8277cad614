import type { Shop } from "./database.js";

/** Returns the number and the sum of the orders of each month, from the totals of `byMonth`. */
export async function monthlyTotals(shop: Shop) {
  return await shop.orders.groupBy({ by: ["month"], count: true, sum: { cents: true } });
}

/** Returns a page of the products, those that were sold most first. Pages begin with 1. */
export async function bestSellers(shop: Shop, page: number, size: number) {
  const { items } = await shop.products.findMany({
    orderBy: { sold: "desc" },
    skip: (page - 1) * size,
    take: size,
    select: { name: true, sold: true },
  });
  return items;
}

/** Returns the place of a product among the best sellers, from 1. Null if there is no product. */
export async function salesRank(shop: Shop, sku: string): Promise<number | null> {
  const rank = await shop.products.rank({ index: "bySold", where: { sku }, order: "desc" });
  return rank === null ? null : rank + 1;
}

/** Returns the orders with a coupon, the largest first. */
export async function largestOrders(shop: Shop, code: string, count: number) {
  const { orders } = await shop.coupons.findUniqueOrThrow({
    where: { code },
    include: { orders: { orderBy: { cents: "desc" }, take: count } },
  });
  return orders;
}

/** Returns the customers to whom the shop has something to send. */
export async function waitingCustomers(shop: Shop) {
  const { items } = await shop.customers.findMany({
    where: { orders: { some: { status: "open" } } },
    select: { fullName: true, email: true },
  });
  return items;
}

/** Returns the categories that have products, in alphabetical order. */
export async function categories(shop: Shop) {
  return await shop.products.distinct({ field: "category" });
}
