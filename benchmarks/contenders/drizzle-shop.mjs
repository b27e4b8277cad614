// The tables of the cases about related rows, and Drizzle's calls as its documentation writes them.
import { peer } from "./peer.mjs";

const tablesOfShop = `
  CREATE TABLE IF NOT EXISTS "Customer" (
    "id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "spent" INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS "Customer_name_idx" ON "Customer" ("name");
  CREATE TABLE IF NOT EXISTS "Purchase" (
    "id" TEXT PRIMARY KEY NOT NULL, "customerId" TEXT NOT NULL REFERENCES "Customer" ("id"),
    "status" TEXT NOT NULL, "batch" INTEGER NOT NULL, "stage" INTEGER NOT NULL,
    "cents" INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS "Purchase_customerId_idx" ON "Purchase" ("customerId");
  CREATE INDEX IF NOT EXISTS "Purchase_status_idx" ON "Purchase" ("status", "customerId");
  CREATE INDEX IF NOT EXISTS "Purchase_batch_idx" ON "Purchase" ("batch");
  CREATE TABLE IF NOT EXISTS "Label" ("id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS "PurchaseLabel" (
    "purchaseId" TEXT NOT NULL REFERENCES "Purchase" ("id"),
    "labelId" TEXT NOT NULL REFERENCES "Label" ("id"),
    PRIMARY KEY ("purchaseId", "labelId")
  );
  CREATE INDEX IF NOT EXISTS "PurchaseLabel_labelId_idx" ON "PurchaseLabel" ("labelId");
`;

export function createShopTables(sqlite) {
  sqlite.exec(tablesOfShop);
}

export function shopTables() {
  const { integer, primaryKey, sqliteTable, text } = peer("drizzle-orm/sqlite-core");
  const { relations } = peer("drizzle-orm");
  const customers = sqliteTable("Customer", {
    id: text().primaryKey(),
    name: text().notNull(),
    spent: integer().notNull(),
  });
  const purchases = sqliteTable("Purchase", {
    id: text().primaryKey(),
    customerId: text()
      .notNull()
      .references(() => customers.id),
    status: text().notNull(),
    batch: integer().notNull(),
    stage: integer().notNull(),
    cents: integer().notNull(),
  });
  const labels = sqliteTable("Label", { id: text().primaryKey(), name: text().notNull() });
  const purchaseLabels = sqliteTable(
    "PurchaseLabel",
    {
      purchaseId: text()
        .notNull()
        .references(() => purchases.id),
      labelId: text()
        .notNull()
        .references(() => labels.id),
    },
    (table) => [primaryKey({ columns: [table.purchaseId, table.labelId] })],
  );
  return {
    customers,
    purchases,
    labels,
    purchaseLabels,
    labelsOfPurchases: relations(purchases, ({ many }) => ({
      purchaseLabels: many(purchaseLabels),
    })),
    endsOfPurchaseLabels: relations(purchaseLabels, ({ one }) => ({
      purchase: one(purchases, {
        fields: [purchaseLabels.purchaseId],
        references: [purchases.id],
      }),
      label: one(labels, { fields: [purchaseLabels.labelId], references: [labels.id] }),
    })),
  };
}

/**
 * @param insert writes rows into a table.
 * @param statement returns a statement that is built each time, or prepared once.
 */
export function drizzleShop(
  db,
  { customers, purchases, labels, purchaseLabels },
  insert,
  statement,
) {
  const { and, asc, eq, exists, getTableColumns, gte, notExists } = peer("drizzle-orm");
  const ofCustomer = (condition) =>
    db
      .select()
      .from(purchases)
      .where(and(eq(purchases.customerId, customers.id), condition));
  const withOpen = statement([], () =>
    db
      .select()
      .from(customers)
      .where(exists(ofCustomer(eq(purchases.status, "open"))))
      .orderBy(asc(customers.id)),
  );
  const withoutPurchases = statement([], () =>
    db.select().from(customers).where(notExists(ofCustomer())).orderBy(asc(customers.id)),
  );
  const purchaseCounts = statement(["from", "take"], (from, take) =>
    db
      .select({
        ...getTableColumns(customers),
        count: db.$count(purchases, eq(purchases.customerId, customers.id)),
      })
      .from(customers)
      .where(gte(customers.id, from))
      .orderBy(asc(customers.id))
      .limit(take),
  );
  const byCustomerName = statement(["take"], (take) =>
    db
      .select(getTableColumns(purchases))
      .from(purchases)
      .innerJoin(customers, eq(purchases.customerId, customers.id))
      .where(eq(purchases.status, "open"))
      .orderBy(asc(customers.name))
      .limit(take),
  );
  const updateBatch = statement(["batch", "stage"], (batch, stage) =>
    db.update(purchases).set({ stage }).where(eq(purchases.batch, batch)),
  );
  return {
    loadShop: (shop) => {
      insert(customers, shop.customers);
      insert(purchases, shop.purchases);
      insert(labels, shop.labels);
      insert(purchaseLabels, shop.purchaseLabels);
    },
    withOpen: () => withOpen().all(),
    withoutPurchases: () => withoutPurchases().all(),
    purchaseCounts: (from, take) => purchaseCounts(from, take).all(),
    withLabels: (from, take) =>
      db.query.purchases
        .findMany({
          where: gte(purchases.id, from),
          orderBy: asc(purchases.id),
          limit: take,
          with: { purchaseLabels: { with: { label: true } } },
        })
        .sync()
        .map(({ purchaseLabels: own, ...purchase }) => ({
          ...purchase,
          labels: own.map(({ label }) => label),
        })),
    byCustomerName: (take) => byCustomerName(take).all(),
    updateBatch: (batch, stage) => updateBatch(batch, stage).run().changes,
    settle: (id) =>
      db.transaction((tx) => {
        const rows = tx.select().from(purchases).where(eq(purchases.customerId, id)).all();
        const spent = rows.reduce((sum, { cents }) => sum + cents, 0);
        tx.update(customers).set({ spent }).where(eq(customers.id, id)).run();
        return spent;
      }),
  };
}
