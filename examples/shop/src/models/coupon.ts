import { belongsTo, defineModel, desc, manyToMany } from "@keywright/orm";
import * as z from "zod";

export const Coupon = defineModel({
  name: "coupons",
  schema: z.object({ tenantId: z.string(), code: z.string().uppercase(), cents: z.int().min(1) }),
  primaryKey: ["tenantId", "code"],
  relations: {
    orders: manyToMany("orders", {
      through: "order_coupons",
      from: ["tenantId", "code"],
      to: ["tenantId", "orderId"],
    }),
  },
});

/**
 * Links orders and coupons. A coupon that an order has cannot be deleted. It copies the amount of
 * the order, so that the orders of a coupon can be listed by their amount.
 */
export const OrderCoupon = defineModel({
  name: "order_coupons",
  schema: z.object({
    tenantId: z.string(),
    orderId: z.ulid(),
    code: z.string(),
    cents: z.int().default(0),
  }),
  primaryKey: ["tenantId", "orderId", "code"],
  indexes: { byCoupon: { key: ["tenantId", "code", desc("cents")] } },
  relations: {
    order: belongsTo("orders", ["tenantId", "orderId"], {
      onDelete: "cascade",
      copy: { cents: "cents" },
    }),
    coupon: belongsTo("coupons", ["tenantId", "code"]),
  },
});
