import type { Kv, KvU64 } from "@keywright/core";
import {
  type CatalogEntry,
  catalogPrefix,
  rowCounter,
  rowManifestKey,
} from "../../catalog/catalog-entry.js";
import { type AnyDatabase, tableContexts } from "../../context/any-database.js";
import type { TableContext } from "../../context/table-context.js";
import { rowCounterKey } from "../../indexes/counter-keys.js";
import type { RowManifest } from "../../schema/manifest.js";
import type { DatabaseModel, MigrationPlan, ModelFacts } from "./migration-plan.js";
import { planModels } from "./plan-migration.js";

/** What of a model's plan is read in the database: its catalog entry, as it is now, and what its rows are. */
export async function readFacts({ kv, model, catalog }: TableContext): Promise<ModelFacts> {
  await catalog.reload();
  const { entry } = catalog.snapshot;
  const read = async (hash: string | undefined) => {
    if (hash === undefined) return undefined;
    return (await kv.get<RowManifest>(rowManifestKey(model, hash))).value ?? undefined;
  };
  const storedRow = await read(entry.schema?.hash);
  const earlierRow = await read(entry.transform?.from);
  const { migrations, relations } = catalog.ownRows;
  return { model, entry, storedRow, earlierRow, migrations, relations };
}

/** Reads what a database is, and plans what leads from there to its models. Writes nothing. */
export async function readPlan(contexts: readonly TableContext[]): Promise<MigrationPlan> {
  const facts: ModelFacts[] = [];
  for (const context of contexts) facts.push(await readFacts(context));
  return planModels(facts, await readDatabaseOnly(contexts));
}

/** The models that are in the catalog and not among those of the program, where there are rows of them. */
async function readDatabaseOnly(contexts: readonly TableContext[]): Promise<DatabaseModel[]> {
  const [any] = contexts;
  if (any === undefined) return [];
  const { kv } = any;
  const known = new Set(contexts.map(({ model }) => model.prefix));
  const found: DatabaseModel[] = [];
  for await (const { key, value } of kv.list<CatalogEntry>({ prefix: catalogPrefix })) {
    const prefix = key.at(-1);
    if (typeof prefix !== "string" || known.has(prefix)) continue;
    const first = await kv.list({ prefix: [prefix] }, { limit: 1 }).next();
    if (first.done) continue;
    const rows = await readRowCount(kv, prefix, value);
    found.push({ model: value.name ?? prefix, prefix, ...(rows !== undefined && { rows }) });
  }
  return found;
}

/** By the model's counter; undefined where it keeps none. */
async function readRowCount(
  kv: Kv,
  prefix: string,
  { counters }: CatalogEntry,
): Promise<number | undefined> {
  if (counters?.[rowCounter] !== "readable") return undefined;
  const { value } = await kv.get<KvU64>(rowCounterKey({ prefix }));
  return Number(value?.value ?? 0n);
}

/**
 * What leads from a database as it is to the models that it was opened with: steps in order, each with its class. Writes
 * nothing. `formatPlan` makes text of it; as it is, it is plain data.
 *
 * ```ts
 * console.log(formatPlan(await planMigration(db)));
 * ```
 *
 * @throws {StaleSchemaError} where the database was emptied since it was opened.
 */
export async function planMigration(database: AnyDatabase): Promise<MigrationPlan> {
  return await readPlan([...tableContexts(database).values()]);
}
