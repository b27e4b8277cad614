import type { Kv } from "@keywright/core";
import { rowCounter } from "../../model/aggregates/counter-name.js";
import type { CatalogEntry } from "../../state/catalog/catalog-entry.js";
import { readSystemValue } from "../../state/catalog/system-value.js";
import type { ModelStore } from "../../state/context/model-store.js";
import { type MigrationRun, maxBatchRows } from "../../state/run/migration-run.js";
import { counterShape, rowCounterKey } from "./counter-keys.js";

/**
 * Counts a model's rows, so that the progress has a total. Uses the model's row counter if it is
 * readable, and otherwise lists all rows.
 *
 * @param indexes the names of the indexes that the run works on, for the progress.
 * @returns undefined if the signal stopped the count.
 */
export async function countStoredRows(
  { kv, model, catalog, limits }: ModelStore,
  run: MigrationRun,
  indexes: readonly string[],
): Promise<number | undefined> {
  const meter = run.meter(model.name, indexes);
  if (catalog.snapshot.counterState(rowCounter) === "readable") {
    const rows = await readRowCounter(kv, model.prefix, model.name);
    meter.start("counting", rows);
    return rows;
  }
  meter.begin("counting");
  let rows = 0;
  const batchSize = Math.min(maxBatchRows, limits.batchSize);
  for await (const _ of kv.list({ prefix: [model.place] }, { batchSize })) {
    rows++;
    if (rows % batchSize !== 0) continue;
    // `rowsPerSecond` does not limit counting, but other tasks must get their turn.
    await run.afterBatch(0);
    if (run.signal?.aborted) return undefined;
    if (rows % 10_000 === 0) meter.advance(rows);
  }
  meter.advance(rows);
  return rows;
}

/**
 * Returns the number of rows of a model by its counter, without the model itself. Undefined if
 * there is no counter, or if it may include rows that have expired.
 */
export async function countedRows(
  kv: Kv,
  prefix: string,
  { counters, expires }: CatalogEntry,
): Promise<number | undefined> {
  if (counters?.[rowCounter] !== "readable" || expires) return undefined;
  return await readRowCounter(kv, prefix, prefix);
}

async function readRowCounter(kv: Kv, prefix: string, model: string): Promise<number> {
  const counter = await readSystemValue(kv, rowCounterKey({ prefix }), counterShape, model);
  return Number(counter?.value ?? 0n);
}
