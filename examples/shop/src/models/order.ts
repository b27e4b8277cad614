import { monotonicUlid } from "@keywright/core";
import { belongsTo, defineModel, hasMany, manyToMany } from "@keywright/orm";
import * as z from "zod";

export const Order = defineModel({
  name: "orders",
  schema: z.object({
    tenantId: z.string(),
    id: z.ulid().default(monotonicUlid),
    customerId: z.ulid(),
    status: z.enum(["open", "shipped"]).default("open"),
    month: z.string().regex(/^\d{4}-\d{2}$/),
    cents: z.int().min(0),
    createdAt: z.date().default(() => new Date()),
    updatedAt: z.date().default(() => new Date()),
  }),
  primaryKey: ["tenantId", "id"],
  timestamps: true,
  indexes: {
    byCustomer: { key: ["tenantId", "customerId"] },
    byStatus: { key: ["tenantId", "status", "customerId"] },
    byMonth: { key: ["tenantId", "month"], count: true, sum: ["cents"] },
  },
  relations: {
    customer: belongsTo("customers", ["tenantId", "customerId"]),
    lines: hasMany("order_lines", ["tenantId", "orderId"]),
    coupons: manyToMany("coupons", {
      through: "order_coupons",
      from: ["tenantId", "orderId"],
      to: ["tenantId", "code"],
    }),
  },
});

/**
 * Has the name and the price of its product at the time of the order. If the product is purged, the
 * line remains and its `sku` becomes null.
 */
export const OrderLine = defineModel({
  name: "order_lines",
  schema: z.object({
    tenantId: z.string(),
    orderId: z.ulid(),
    position: z.int().min(1),
    sku: z.string().nullable(),
    name: z.string(),
    cents: z.int().min(0),
    quantity: z.int().min(1),
  }),
  primaryKey: ["tenantId", "orderId", "position"],
  computed: { total: (row) => row.cents * row.quantity },
  indexes: { byProduct: { key: ["tenantId", "sku"] } },
  relations: {
    order: belongsTo("orders", ["tenantId", "orderId"], { onDelete: "cascade" }),
    product: belongsTo("products", ["tenantId", "sku"], { onDelete: "setNull" }),
  },
});
