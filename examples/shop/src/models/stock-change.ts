import { monotonicUlid } from "@keywright/core";
import { defineModel } from "@keywright/orm";
import * as z from "zod";

/** An entry of the audit log: which order took how many of a product. */
export const StockChange = defineModel({
  name: "stock_changes",
  schema: z.object({
    tenantId: z.string(),
    id: z.ulid().default(monotonicUlid),
    sku: z.string(),
    orderId: z.ulid(),
    change: z.int(),
  }),
  primaryKey: ["tenantId", "id"],
  indexes: { byProduct: { key: ["tenantId", "sku"] } },
});
