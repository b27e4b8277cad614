import { type Kv, ulid } from "@keywright/core";
import * as z from "zod";
import { transformRows } from "../src/change/transform/transform-rows.js";
import { createDatabase, type Database, defineModel } from "../src/index.js";
import { catalogKey, transformMarkKey } from "../src/state/catalog/catalog-entry.js";
import { rowManifestKey } from "../src/state/catalog/row-manifests.js";
import { type AnyDatabase, tableContexts } from "../src/state/context/any-database.js";
import type { TableContext } from "../src/state/context/table-context.js";
import { takeLease } from "../src/state/run/lease.js";
import { createRun, type RunOptions } from "../src/state/run/migration-run.js";
import { defineMigration } from "../src/state/schema/define-migration.js";

const oldFields = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  visits: z.int(),
});

const indexes = {
  byEmail: { key: "email", unique: true },
  byVisits: { key: "visits", count: true },
  byEmailCopy: { key: "email", store: "copy" },
} as const;

/** Members as a program wrote them at first. */
export const OldMember = defineModel({
  name: "members",
  schema: oldFields,
  primaryKey: "id",
  indexes,
  count: true,
});

/** Members of a later program: their name is in another field, and they may be closed. */
export const Member = defineModel({
  name: "members",
  schema: z.object({
    id: z.string(),
    fullName: z.string().min(1),
    email: z.string(),
    visits: z.int(),
    closed: z.boolean().default(false),
  }),
  primaryKey: "id",
  indexes,
  count: true,
});

/**
 * Each row that is changed twice has one visit too many. It refuses members who are called
 * "nobody".
 */
export const renameName = defineMigration({
  model: Member,
  from: oldFields,
  to: Member.schema,
  changes: ["visits"],
  up: ({ name, ...row }) => {
    if (name === "nobody") throw new Error("nobody has no full name");
    return { ...row, fullName: name, visits: row.visits + 1, closed: false };
  },
});

export const memberId = (i: number): string => `m${String(i).padStart(5, "0")}`;

/** A row as the old program writes it. */
export function oldMember(i: number) {
  return { id: memberId(i), name: `Name ${i}`, email: `m${i}@example.com`, visits: i % 7 };
}

/** The row that becomes of it. */
export function newMember(i: number) {
  const { name, visits, ...row } = oldMember(i);
  return { ...row, fullName: name, visits: visits + 1, closed: false };
}

export async function openOld(kv: Kv): Promise<Database<{ members: typeof OldMember }>> {
  return await createDatabase({ kv, models: { members: OldMember } });
}

export async function openNew(kv: Kv): Promise<Database<{ members: typeof Member }>> {
  return await createDatabase({ kv, models: { members: Member }, migrations: [renameName] });
}

/** So many rows of the old program. */
export async function fillOld(kv: Kv, count: number): Promise<void> {
  const db = await openOld(kv);
  await db.members.createMany({ data: Array.from({ length: count }, (_, i) => oldMember(i)) });
}

/** What stands behind a model of a database. */
export function contextOf(db: AnyDatabase, name: string): TableContext {
  const context = tableContexts(db).get(name);
  if (context === undefined) throw new Error(`there is no model ${name}`);
  return context;
}

/**
 * Begins the change of all rows of a model to those of a program, and nothing else: its indexes
 * stay as they are.
 */
export async function beginTransform({ kv, model, catalog }: TableContext): Promise<void> {
  await catalog.reload();
  const { entry, check } = catalog.snapshot;
  const { manifest } = catalog.programRows;
  const from = entry.schema?.hash;
  if (from === undefined) throw new Error("the database does not know the rows' schema");
  const id = ulid();
  const schema = { hash: manifest.hash, accepts: [] };
  const result = await kv
    .atomic()
    .check(check)
    .set(catalogKey(model), { ...entry, schema, transform: { id, from } })
    .set(rowManifestKey(model, manifest.hash), manifest)
    .set(transformMarkKey(model, id), true)
    .commit();
  if (!result.ok) throw new Error("somebody else changed the catalog");
  await catalog.reload();
}

/** Rows of a batch, in runs of tests. */
const batchRows = 10;

/** Changes the rows of a model, as a run does that then ends, in small batches. */
export async function runTransform(
  context: TableContext,
  options: RunOptions = {},
): ReturnType<typeof transformRows> {
  const lease = await takeLease(context.kv, { wait: true });
  if (typeof lease === "string") throw new Error(lease);
  try {
    const run = createRun(lease, options);
    return await transformRows(context, { ...run, batchRows: Math.min(run.batchRows, batchRows) });
  } finally {
    await lease.release();
  }
}

/** The keys of what Keywright keeps for itself in a database. */
export async function ownKeys(kv: Kv): Promise<unknown[]> {
  const keys: unknown[] = [];
  for await (const { key } of kv.list({ prefix: ["__keywright"] })) keys.push(key);
  return keys;
}
