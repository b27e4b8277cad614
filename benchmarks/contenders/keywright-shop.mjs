// The models of the cases about related rows, and Keywright's calls.
import { belongsTo, defineModel, hasMany, manyToMany } from "@keywright/orm";
import * as z from "zod";

const Customer = defineModel({
  name: "customers",
  schema: z.object({ id: z.string(), name: z.string(), spent: z.int() }),
  primaryKey: "id",
  relations: { purchases: hasMany("purchases", "customerId") },
});

/** Each purchase has a copy of the name of its customer, so that an index can sort by it. */
const Purchase = defineModel({
  name: "purchases",
  schema: z.object({
    id: z.string(),
    customerId: z.string(),
    customerName: z.string().default(""),
    status: z.string(),
    batch: z.int(),
    stage: z.int(),
    cents: z.int(),
  }),
  primaryKey: "id",
  indexes: {
    byCustomer: { key: "customerId" },
    byStatus: { key: ["status", "customerId"] },
    byCustomerName: { key: ["status", "customerName"] },
    byBatch: { key: "batch" },
  },
  relations: {
    customer: belongsTo("customers", "customerId", { copy: { customerName: "name" } }),
    labels: manyToMany("labels", { through: "purchase_labels", from: "purchaseId", to: "labelId" }),
  },
});

const Label = defineModel({
  name: "labels",
  schema: z.object({ id: z.string(), name: z.string() }),
  primaryKey: "id",
});

const PurchaseLabel = defineModel({
  name: "purchase_labels",
  schema: z.object({ purchaseId: z.string(), labelId: z.string() }),
  primaryKey: ["purchaseId", "labelId"],
  indexes: { byLabel: { key: "labelId" } },
  relations: {
    purchase: belongsTo("purchases", "purchaseId"),
    label: belongsTo("labels", "labelId"),
  },
});

export const shopModels = {
  customers: Customer,
  purchases: Purchase,
  labels: Label,
  purchaseLabels: PurchaseLabel,
};

export function keywrightShop(db) {
  const { customers, purchases, labels, purchaseLabels } = db;
  const byId = { orderBy: { id: "asc" } };
  return {
    loadShop: async (shop) => {
      await customers.createMany({ data: shop.customers });
      await purchases.createMany({ data: shop.purchases });
      await labels.createMany({ data: shop.labels });
      await purchaseLabels.createMany({ data: shop.purchaseLabels });
    },
    withOpen: async () => {
      const where = { purchases: { some: { status: "open" } } };
      return (await customers.findMany({ where })).items;
    },
    withoutPurchases: async () => {
      return (await customers.findMany({ where: { purchases: { none: {} } }, ...byId })).items;
    },
    purchaseCounts: async (from, take) => {
      const include = { _count: { purchases: true } };
      const { items } = await customers.findMany({ where: { id: { gte: from } }, take, include });
      return items.map(({ _count, ...customer }) => ({ ...customer, count: _count.purchases }));
    },
    withLabels: async (from, take) => {
      const query = { where: { id: { gte: from } }, take, include: { labels: true } };
      return (await purchases.findMany(query)).items;
    },
    byCustomerName: async (take) => {
      const query = { where: { status: "open" }, orderBy: { customerName: "asc" }, take };
      return (await purchases.findMany(query)).items;
    },
    updateBatch: async (batch, stage) => {
      return (await purchases.updateMany({ where: { batch }, data: { stage } })).count;
    },
    settle: (id) =>
      db.transaction(async (tx) => {
        const { items } = await tx.purchases.findMany({ where: { customerId: id } });
        const spent = items.reduce((sum, { cents }) => sum + cents, 0);
        await tx.customers.update({ where: { id }, data: { spent } });
        return spent;
      }),
  };
}
