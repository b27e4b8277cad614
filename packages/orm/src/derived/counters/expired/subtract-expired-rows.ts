import { yieldToEventLoop } from "../../../promises/yield-to-event-loop.js";
import type { CatalogSnapshot } from "../../../state/catalog/catalog-snapshot.js";
import type { ModelCatalog } from "../../../state/catalog/model-catalog.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import { isLimitError } from "../../../state/transaction/limit-error-of.js";
import { amountChanges } from "../counter-amounts.js";
import { maintainedCounters } from "../maintained-counters.js";
import { countedUntilKey } from "./counted-row.js";
import { type ExpiredCount, listExpiredCounts, withoutRow } from "./expired-counts.js";

const maxBatchRows = 250;
/** How many rows that expire a program writes per model between two subtractions. */
const writesBetween = 100;
/** More than `writesBetween`, so that expired rows become fewer even if nobody counts. */
const maxSubtracted = 200;

const writesOf = new WeakMap<ModelCatalog, number>();

/**
 * Subtracts rows that have expired from the counters, after the first write of a row that expires
 * and after each hundredth. Without it, the records of expired rows would remain until somebody
 * counts.
 */
export async function subtractRegularly(store: ModelStore): Promise<void> {
  const { catalog } = store;
  const writes = writesOf.get(catalog) ?? 0;
  writesOf.set(catalog, writes + 1);
  if (writes % writesBetween !== 0) return;
  await subtractExpiredRows(store, maxSubtracted);
}

/**
 * Subtracts rows that have expired from the counters that include them, in commits of several rows.
 * Within a transaction, this is done at once in the database and not by the transaction.
 *
 * The counts that programs read are the same before and after it, so it does not matter if it
 * fails or the process dies: the next call does the rest.
 *
 * @param maxRows the maximum number of rows to look at.
 */
export async function subtractExpiredRows(store: ModelStore, maxRows: number): Promise<void> {
  const table = { ...store, kv: store.catalog.database };
  try {
    await subtractInBatches(table, maxRows);
  } catch {
    // The next call subtracts what is left.
  }
}

async function subtractInBatches(store: ModelStore, maxRows: number): Promise<void> {
  const { catalog, limits } = store;
  const now = Date.now();
  // One check is needed for the catalog.
  const maxSize = Math.max(1, Math.min(maxBatchRows, limits.checks - 1));
  let size = maxSize;
  let after: ExpiredCount | undefined;
  for (let left = maxRows; left > 0; ) {
    const { snapshot } = catalog;
    if (!maintainedCounters(snapshot).recordsRows || !snapshot.isWritable) return;
    const limit = Math.min(size, left);
    const expired = await listExpiredCounts(store, snapshot, { now, after, limit });
    if (expired.length === 0) return;
    const isCommitted = await commitSubtraction(store, snapshot, await withoutRow(store, expired));
    if (!isCommitted && expired.length > 1) {
      size = Math.floor(expired.length / 2);
      await catalog.reload();
      continue;
    }
    after = expired.at(-1);
    left -= expired.length;
    size = Math.min(maxSize, size * 2);
    await yieldToEventLoop();
  }
}

/**
 * Returns false if a row was subtracted or written since it was read, or if there are too many
 * changes.
 */
async function commitSubtraction(
  { kv, model }: ModelStore,
  { check }: CatalogSnapshot,
  rows: readonly ExpiredCount[],
): Promise<boolean> {
  if (rows.length === 0) return true;
  const operation = kv.atomic().check(check);
  for (const { primaryKey, record } of rows) {
    operation.check(record).delete(record.key).delete(countedUntilKey(model, primaryKey));
  }
  const counters = rows.flatMap((row) => row.counters);
  for (const { key, by } of amountChanges(counters, [])) operation.sum(key, by);
  try {
    return (await operation.commit()).ok;
  } catch (error) {
    if (isLimitError(error)) return false;
    throw error;
  }
}
