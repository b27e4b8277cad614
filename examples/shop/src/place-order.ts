import type { Shop } from "./database.js";

/** An order as a customer submits it. */
export interface Basket {
  readonly email: string;
  /** How many of each product, by `sku`. */
  readonly items: Readonly<Record<string, number>>;
  readonly coupons?: readonly string[];
  /** The default is now. */
  readonly orderedAt?: Date;
}

/**
 * Creates an order with its lines, at the prices of this moment. The lines take their products from
 * the stock. Everything is one commit: if one product is out of stock, nothing is written.
 */
export async function placeOrder(shop: Shop, basket: Basket) {
  const { email, items, coupons = [], orderedAt = new Date() } = basket;
  return await shop.transaction(async (tx) => {
    const lines = [];
    for (const [sku, quantity] of Object.entries(items)) {
      const { name, cents } = await tx.products.findUniqueOrThrow({ where: { sku } });
      lines.push({ position: lines.length + 1, sku, name, cents, quantity });
    }
    let cents = lines.reduce((sum, line) => sum + line.cents * line.quantity, 0);
    for (const code of coupons) {
      cents -= (await tx.coupons.findUniqueOrThrow({ where: { code } })).cents;
    }
    return await tx.orders.create({
      data: {
        month: orderedAt.toISOString().slice(0, 7),
        cents: Math.max(cents, 0),
        createdAt: orderedAt,
        customer: { connect: { email } },
        lines: { create: lines },
        coupons: { connect: coupons.map((code) => ({ code })) },
      },
      include: { lines: true },
    });
  });
}
