import type { CompiledModel } from "../../model/compiled-model.js";
import { awaitAll } from "./await-all.js";
import type { TableContext } from "./table-context.js";

/**
 * Runs a read with the last known catalogs of some models. Catalogs that are due are read at the
 * same time, not before. If one of them has changed, the read runs again.
 *
 * @param models further models whose rows it reads.
 * @throws {PrimaryKeyDiffersError} if the database stores the rows by another primary key.
 */
export function besideCatalogs<T>(
  context: TableContext,
  models: readonly CompiledModel[],
  read: (context: TableContext) => Promise<T>,
): Promise<T> {
  const isKnown = models.length === 0 && context.catalog.isKeyKnown;
  return isKnown ? read(context) : readBeside(context, models, read);
}

async function readBeside<T>(
  context: TableContext,
  models: readonly CompiledModel[],
  read: (context: TableContext) => Promise<T>,
): Promise<T> {
  const catalogs = new Set([context.catalog]);
  for (const { name } of models) {
    const catalog = context.tables.get(name)?.catalog;
    if (catalog !== undefined) catalogs.add(catalog);
  }
  const due = [...catalogs].filter((catalog) => !catalog.isFresh);
  if (due.length === 0) return await readByKey(context, read);
  const snapshots = due.map((catalog) => catalog.snapshot);
  const assumed = new Map(due.map((catalog) => [catalog, catalog.assumed()]));
  const tables = new Map<string, TableContext>();
  const assuming = (table: TableContext): TableContext => ({
    ...table,
    tables,
    catalog: assumed.get(table.catalog) ?? table.catalog,
  });
  for (const [name, table] of context.tables) tables.set(name, assuming(table));
  const [[outcome], reloads] = await awaitAll([
    Promise.allSettled([readByKey(assuming(context), read)]),
    Promise.allSettled(due.map((catalog) => catalog.reload())),
  ]);
  for (const reload of reloads) if (reload.status === "rejected") throw reload.reason;
  if (due.some((catalog, i) => catalog.snapshot !== snapshots[i])) {
    return await readByKey(context, read);
  }
  if (outcome.status === "rejected") throw outcome.reason;
  return outcome.value;
}

async function readByKey<T>(
  context: TableContext,
  read: (context: TableContext) => Promise<T>,
): Promise<T> {
  if (!context.catalog.isKeyKnown) await context.catalog.assertSameKey();
  return await read(context);
}
