import type { Kv, KvU64 } from "@keywright/core";
import {
  type CatalogEntry,
  catalogPrefix,
  rowManifestKey,
  transformsOf,
} from "../../catalog/catalog-entry.js";
import { catalogShape, counterShape, rowManifestShape } from "../../catalog/system-shapes.js";
import { systemValue } from "../../catalog/system-value.js";
import { type AnyDatabase, tableContexts } from "../../context/any-database.js";
import type { TableContext } from "../../context/table-context.js";
import { rowCounterKey } from "../../indexes/counter-keys.js";
import { rowCounter } from "../../model/aggregates/counter.js";
import type { RowManifest } from "../../schema/manifest.js";
import { readKeyObstacle } from "./key-obstacle.js";
import type { DatabaseModel, MigrationPlan, ModelFacts } from "./migration-plan.js";
import { changesKey } from "./plan-key.js";
import { planModels } from "./plan-model.js";

/** Reads the current catalog entry and row manifests. */
export async function readFacts(context: TableContext): Promise<ModelFacts> {
  const { kv, model, catalog } = context;
  await catalog.reload();
  const { entry } = catalog.snapshot;
  const readManifest = async (hash: string | undefined) => {
    if (hash === undefined) return undefined;
    const stored = await kv.get(rowManifestKey(model, hash));
    return systemValue<RowManifest>(stored, rowManifestShape, model.name) ?? undefined;
  };
  const storedRow = await readManifest(entry.schema?.hash);
  const earlierRows: (RowManifest | undefined)[] = [];
  for (const { from } of transformsOf(entry.transform)) earlierRows.push(await readManifest(from));
  const { migrations, relations } = catalog.programRows;
  const facts = { model, entry, storedRow, earlierRows, migrations, relations };
  return changesKey(facts) ? { ...facts, keyObstacle: await readKeyObstacle(context) } : facts;
}

/**
 * Plans the steps that lead from a database to the models that it was opened with. Each step has a
 * class. Writes nothing. The plan is plain data; `formatPlan` makes text of it.
 *
 * ```ts
 * console.log(formatPlan(await planMigration(db)));
 * ```
 *
 * @throws {StaleSchemaError} if the database was emptied after it was opened.
 */
export async function planMigration(database: AnyDatabase): Promise<MigrationPlan> {
  const contexts = [...tableContexts(database).values()];
  const facts: ModelFacts[] = [];
  for (const context of contexts) facts.push(await readFacts(context));
  return planModels(facts, await readDatabaseOnly(contexts));
}

/** Returns the models that are in the catalog but not in the program, if they have rows. */
async function readDatabaseOnly(contexts: readonly TableContext[]): Promise<DatabaseModel[]> {
  const [firstContext] = contexts;
  if (firstContext === undefined) return [];
  const { kv } = firstContext;
  const knownPrefixes = new Set(contexts.map(({ model }) => model.prefix));
  const models: DatabaseModel[] = [];
  for await (const entry of kv.list({ prefix: catalogPrefix })) {
    const prefix = entry.key.at(-1);
    if (typeof prefix !== "string" || knownPrefixes.has(prefix)) continue;
    const value = systemValue<CatalogEntry>(entry, catalogShape, prefix);
    if (value === null) continue;
    const first = await kv.list({ prefix: [value.place ?? prefix] }, { limit: 1 }).next();
    if (first.done) continue;
    const rows = await readRowCount(kv, prefix, value);
    models.push({ model: value.name ?? prefix, prefix, ...(rows !== undefined && { rows }) });
  }
  return models;
}

/** Returns undefined if there is no counter, or if it may include rows that have expired. */
async function readRowCount(
  kv: Kv,
  prefix: string,
  { counters, expires }: CatalogEntry,
): Promise<number | undefined> {
  if (counters?.[rowCounter] !== "readable" || expires) return undefined;
  const stored = await kv.get(rowCounterKey({ prefix }));
  const value = systemValue<KvU64>(stored, counterShape, prefix);
  return Number(value?.value ?? 0n);
}
