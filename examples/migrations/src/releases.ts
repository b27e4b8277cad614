import { migrationProgress } from "@keywright/codegen/progress";
import type { Kv } from "@keywright/core";
import {
  type AnyDatabase,
  createDatabase,
  findDuplicates,
  formatPlan,
  type MigrationResult,
  migrate,
  planMigration,
  replaceIndex,
  verifyIndexes,
} from "@keywright/orm";
import {
  firstCustomer,
  fourthCustomer,
  moneyIsCents,
  secondCustomer,
  thirdCustomer,
} from "./models.js";

/** The first release goes live, and customers come. */
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
  console.log(`${count} customers`);
}

/** An index is added whose values turn out not to be unique. */
export async function secondRelease(kv: Kv): Promise<void> {
  const db = await createDatabase({ kv, models: { customers: secondCustomer } });
  await migrateWithBar(db);
  const { items } = await findDuplicates(db, { model: "customers", index: "byEmail" });
  console.log(`${items.length} emails are taken twice`);
  for (const { ids } of items) {
    for (const id of ids.slice(1)) await db.customers.delete({ where: { id: String(id) } });
  }
  // The index is readable by itself, now that the last of them is gone.
  const found = await db.customers.findUnique({ where: { email: "CUSTOMER1@example.com" } });
  console.log(`${found?.name} has spent ${found?.spent}`);
}

/** Every row changes, and pointers take the place of copies. */
export async function thirdRelease(kv: Kv): Promise<void> {
  const db = await createDatabase({
    kv,
    models: { customers: thirdCustomer },
    migrations: [moneyIsCents],
  });
  // It runs on the old rows already, which are made new ones as they are read.
  const early = await db.customers.findUnique({ where: { email: "customer1@example.com" } });
  console.log(`${early?.name} has spent ${early?.spentCents} cents`);
  await migrateWithBar(db);
  const best = await db.customers.findFirst({ orderBy: { spentCents: "desc" } });
  console.log(`${best?.name} has spent the most: ${best?.spentCents} cents`);

  console.log("\nbyName takes the place of byNameCopy");
  const pair = { model: "customers", from: "byNameCopy", to: "byName" };
  for (const step of ["backfill", "switch", "clean-up"] as const) {
    const { status } = await replaceIndex(db, { ...pair, step });
    console.log(`${step}: ${status}`);
  }
}

/** What nobody reads any more is taken out of the model. */
export async function fourthRelease(kv: Kv): Promise<void> {
  const db = await createDatabase({
    kv,
    models: { customers: fourthCustomer },
    migrations: [moneyIsCents],
  });
  console.log(formatPlan(await planMigration(db)));
  const verified = await verifyIndexes(db);
  const { rows, entries } = verified.models[0] ?? { rows: 0, entries: 0 };
  console.log(`${verified.status}: ${rows} rows, ${entries} entries`);
}

async function migrateWithBar(db: AnyDatabase): Promise<MigrationResult> {
  console.log(`\n${formatPlan(await planMigration(db))}\n`);
  const progress = migrationProgress();
  const result = await migrate(db, { onProgress: progress.onProgress }).finally(progress.stop);
  console.log(`migrate: ${result.status}\n`);
  return result;
}
