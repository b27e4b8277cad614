import { monotonicUlid } from "@keywright/core";
import { defineModel, hasMany } from "@keywright/orm";
import * as z from "zod";

export const Customer = defineModel({
  name: "customers",
  schema: z.object({
    tenantId: z.string(),
    id: z.ulid().default(monotonicUlid),
    email: z.email(),
    firstName: z.string(),
    lastName: z.string(),
    createdAt: z.date().default(() => new Date()),
    updatedAt: z.date().default(() => new Date()),
  }),
  primaryKey: ["tenantId", "id"],
  timestamps: true,
  computed: { fullName: (row) => `${row.firstName} ${row.lastName}` },
  indexes: {
    byEmail: {
      key: ["tenantId", "email"],
      unique: true,
      normalize: { email: "lowercase" },
    },
  },
  relations: { orders: hasMany("orders", ["tenantId", "customerId"]) },
});
