import * as z from "zod";
import { belongsTo, defineModel, hasMany, hasOne, manyToMany } from "../src/index.js";

const deletedAt = z.date().nullable().default(null);
const time = z.date().default(() => new Date());

/** Models that use soft delete, ranks, aggregates, timestamps, relations and computed fields. */
const Customer = defineModel({
  name: "customers",
  schema: z.object({
    tenant: z.string(),
    id: z.string(),
    email: z.string(),
    score: z.int(),
    deletedAt,
    createdAt: time,
    updatedAt: time,
  }),
  primaryKey: ["tenant", "id"],
  softDelete: "deletedAt",
  timestamps: true,
  live: true,
  count: true,
  indexes: {
    byEmail: { key: ["tenant", "email"], unique: true },
    byScore: { key: ["tenant", "score"], ranked: true, sum: ["score"] },
  },
  computed: { label: (row) => `${row.id}:${row.email}` },
  relations: {
    orders: hasMany("orders", ["tenant", "customerId"]),
    profile: hasOne("profiles", ["tenant", "customerId"]),
    tags: manyToMany("tags", {
      through: "customer_tags",
      from: ["tenant", "customerId"],
      to: ["tenant", "tag"],
    }),
  },
});

const Order = defineModel({
  name: "orders",
  schema: z.object({
    tenant: z.string(),
    id: z.string(),
    customerId: z.string().nullable().default(null),
    state: z.enum(["open", "done"]).default("open"),
    amount: z.int(),
    deletedAt,
  }),
  primaryKey: ["tenant", "id"],
  softDelete: "deletedAt",
  live: true,
  indexes: {
    byCustomer: { key: ["tenant", "customerId"], count: true, sum: ["amount"] },
    byCustomerAndState: { key: ["tenant", "customerId", "state"] },
    byStateAndCustomer: { key: ["state", "tenant", "customerId"] },
    byState: { key: ["tenant", "state"], count: true, max: ["amount"] },
    byAmount: { key: ["tenant", "amount"], ranked: true },
  },
  computed: { double: (row) => row.amount * 2 },
  relations: {
    customer: belongsTo("customers", ["tenant", "customerId"], { onDelete: "cascade" }),
  },
});

const Profile = defineModel({
  name: "profiles",
  schema: z.object({
    tenant: z.string(),
    id: z.string(),
    customerId: z.string().nullable().default(null),
  }),
  primaryKey: ["tenant", "id"],
  indexes: { byCustomer: { key: ["tenant", "customerId"] } },
  relations: {
    customer: belongsTo("customers", ["tenant", "customerId"], { onDelete: "setNull" }),
  },
});

const Tag = defineModel({
  name: "tags",
  schema: z.object({ tenant: z.string(), name: z.string(), deletedAt }),
  primaryKey: ["tenant", "name"],
  softDelete: "deletedAt",
});

const CustomerTag = defineModel({
  name: "customer_tags",
  schema: z.object({ tenant: z.string(), customerId: z.string(), tag: z.string(), deletedAt }),
  primaryKey: ["tenant", "customerId", "tag"],
  softDelete: "deletedAt",
  indexes: { byTag: { key: ["tenant", "tag"] } },
  relations: {
    customer: belongsTo("customers", ["tenant", "customerId"], { onDelete: "cascade" }),
    tagRow: belongsTo("tags", ["tenant", "tag"], { onDelete: "cascade" }),
  },
});

/** It lacks the field of the scope, so only hooks and programs without a scope write it. */
const Audit = defineModel({
  name: "audit",
  schema: z.object({ id: z.ulid(), what: z.string() }),
  primaryKey: "id",
  count: true,
  relations: { details: hasMany("audit_details", "auditId") },
});
const AuditDetail = defineModel({
  name: "audit_details",
  schema: z.object({ id: z.ulid(), auditId: z.string() }),
  primaryKey: "id",
  indexes: { byAudit: { key: "auditId" } },
  relations: { audit: belongsTo("audit", "auditId", { onDelete: "cascade" }) },
});

export const models = {
  customers: Customer,
  orders: Order,
  profiles: Profile,
  tags: Tag,
  customerTags: CustomerTag,
  audit: Audit,
  auditDetails: AuditDetail,
};
