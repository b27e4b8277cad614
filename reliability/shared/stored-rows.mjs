import { findDanglingReferences, verifyIndexes } from "@keywright/orm/migrate";
import { migrateModels, openModels } from "./models.mjs";

/** Returns the rows of all models by their ids, as they are stored. */
export async function storedRows(kv) {
  const names = ["users", "posts", "accounts", "transfers"];
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await rowsOf(kv, name)])),
  );
}

async function rowsOf(kv, name) {
  const rows = new Map();
  for await (const { key, value } of kv.list({ prefix: [name] }, { batchSize: 500 }))
    rows.set(key[1], value);
  return rows;
}

/** Migrates to the new schema, verifies all indexes and references, and returns what is wrong. */
export async function problemsAfterMigration(kv) {
  const db = await openModels(kv, "new");
  await migrateModels(db);
  const verified = await verifyIndexes(db);
  const { items } = await findDanglingReferences(db, { model: "posts", take: 10, rows: 1_000_000 });
  const counted = await db.users.count();
  const rows = (await rowsOf(kv, "users")).size;
  const problems = items.map(({ id }) => `half: post ${id} has no author`);
  if (verified.status !== "clean") problems.push(`half: the indexes are ${verified.status}`);
  if (counted !== rows) problems.push(`half: ${rows} users are there, and ${counted} are counted`);
  return problems;
}
