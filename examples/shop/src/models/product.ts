import { defineModel, hasMany } from "@keywright/orm";
import * as z from "zod";

/** `delete` only marks a product, so that it can be restored. */
export const Product = defineModel({
  name: "products",
  schema: z.object({
    tenantId: z.string(),
    sku: z.string(),
    name: z.string().trim().min(1),
    category: z.string(),
    cents: z.int().min(0),
    stock: z.int().min(0),
    sold: z.int().default(0),
    deletedAt: z.date().nullable().default(null),
  }),
  primaryKey: ["tenantId", "sku"],
  softDelete: "deletedAt",
  indexes: {
    byCategory: { key: ["tenantId", "category"] },
    bySold: { key: ["tenantId", "sold"], ranked: true },
  },
  relations: { lines: hasMany("order_lines", ["tenantId", "sku"]) },
});
