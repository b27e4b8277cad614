import { migrationProgress } from "@keywright/codegen/progress";
import type { Kv } from "@keywright/core";
import { type AnyDatabase, createDatabase, type MigrationResult, migrate } from "@keywright/orm";
import { findDuplicates, formatPlan, planMigration, verifyIndexes } from "@keywright/orm/migrate";
import {
  firstCustomer,
  fourthCustomer,
  moneyIsCents,
  secondCustomer,
  thirdCustomer,
} from "./models.js";

/** Opens the shop and registers customers. */
export async function firstRelease(kv: Kv, customers: number): Promise<void> {
  const db = await createDatabase({ kv, models: { customers: firstCustomer } });
  const { count } = await db.customers.createMany({
    data: Array.from({ length: customers }, (_, i) => ({
      // One in a thousand has registered twice.
      email: i % 1000 === 999 ? `Customer${i - 1}@example.com` : `customer${i}@example.com`,
      name: `Customer ${i}`,
      spent: (i / 8).toFixed(2),
    })),
  });
  console.log(`${count} customers registered`);
}

/** Adds a unique index over values that are not unique, and deletes the duplicates. */
export async function secondRelease(kv: Kv): Promise<void> {
  const db = await createDatabase({ kv, models: { customers: secondCustomer } });
  await migrateWithBar(db);
  const { items } = await findDuplicates(db, { model: "customers", index: "byEmail" });
  console.log(`${items.length} emails have two customers. Deleting the second customer of each`);
  for (const { ids } of items) {
    for (const id of ids.slice(1)) await db.customers.delete({ where: { id: String(id) } });
  }
  // The index became readable when the last duplicate was deleted.
  const found = await db.customers.findUnique({ where: { email: "CUSTOMER1@example.com" } });
  console.log(`Found by byEmail: ${found?.name}, spent ${found?.spent}`);
}

/** Changes every row. */
export async function thirdRelease(kv: Kv): Promise<void> {
  const db = await createDatabase({
    kv,
    models: { customers: thirdCustomer },
    migrations: [moneyIsCents],
  });
  // The new program can run before the migration: reads convert the old rows.
  const early = await db.customers.findUnique({ where: { email: "customer1@example.com" } });
  console.log(`Before the migration, as the new model: ${early?.name}, ${early?.spentCents} cents`);
  await migrateWithBar(db);
  const best = await db.customers.findFirst({ orderBy: { spentCents: "desc" } });
  console.log(`Spent the most: ${best?.name}, ${best?.spentCents} cents`);
}

/** Changes an index of copies into one of pointers, and verifies the database. */
export async function fourthRelease(kv: Kv): Promise<void> {
  const db = await createDatabase({
    kv,
    models: { customers: fourthCustomer },
    migrations: [moneyIsCents],
  });
  const find = () => db.customers.findFirst({ where: { name: "Customer 1" } });
  console.log(`Before the migration, by the copies: ${(await find())?.email}`);
  await migrateWithBar(db);
  console.log(`After it, by the pointers: ${(await find())?.email}`);
  const verified = await verifyIndexes(db);
  const { rows, entries } = verified.models[0] ?? { rows: 0, entries: 0 };
  console.log(`Verified: ${verified.status}, ${rows} rows and ${entries} index entries`);
}

async function migrateWithBar(db: AnyDatabase): Promise<MigrationResult> {
  console.log(`\nPlan:\n${formatPlan(await planMigration(db))}\n`);
  const progress = migrationProgress();
  const result = await migrate(db, { onProgress: progress.onProgress }).finally(progress.stop);
  console.log(`Status of the migration: ${result.status}\n`);
  return result;
}
