import type { ModelHooks } from "@keywright/orm";
import type { models } from "./models.js";

/** An order of more than is in stock. */
export class OutOfStockError extends Error {
  readonly sku: string;
  readonly stock: number;

  constructor(sku: string, stock: number) {
    super(`${sku}: only ${stock} in stock`);
    this.sku = sku;
    this.stock = stock;
  }
}

/**
 * Each new line of an order takes its quantity from the stock and adds an entry to the audit log,
 * in the commit that creates the line. It names the tenant, because a call without a scope has a
 * `tx` with the rows of all tenants.
 */
export const takeStock: ModelHooks<typeof models.orderLines, typeof models> = {
  duringCreate: async ({ tenantId, orderId, sku, quantity }, { tx }) => {
    if (sku === null) return;
    const where = { tenantId, sku };
    const { stock } = await tx.products.findUniqueOrThrow({ where });
    if (stock < quantity) throw new OutOfStockError(sku, stock);
    const data = { stock: { increment: -quantity }, sold: { increment: quantity } };
    await tx.products.update({ where, data });
    await tx.stockChanges.create({ data: { tenantId, sku, orderId, change: -quantity } });
  },
};
