import type { KvEntry, KvKeyPart, KvU64 } from "@keywright/core";
import { counterShape } from "../catalog/system-shapes.js";
import { systemValue } from "../catalog/system-value.js";
import type { TableContext } from "../context/table-context.js";
import { rowCounterKey } from "../indexes/counter-keys.js";
import { rowCounter } from "../model/aggregates/counter.js";
import type { AnyRow } from "../model/compiled-model.js";
import { type MigrationRun, maxBatchRows } from "./migration-run.js";
import { readEntriesAfter } from "./read-entries-after.js";

/**
 * Returns the next entries under a model's prefix, in order. These are the model's rows, and
 * entries whose keys begin with the key of a row and have more key parts.
 *
 * @param after the primary key after which to begin; null to begin at the first row.
 * @param limit the maximum number of entries, at most {@link maxBatchRows}. Fewer are returned only
 * at the end.
 */
export async function readNextRows(
  context: TableContext,
  after: readonly KvKeyPart[] | null,
  limit: number,
): Promise<KvEntry<AnyRow>[]> {
  const prefix = [context.model.place];
  const afterKey = after === null ? null : [...prefix, ...after];
  return await readEntriesAfter<AnyRow>(context, prefix, afterKey, limit);
}

/**
 * Counts a model's rows, so that the progress has a total. Uses the model's row counter if it is
 * readable, and otherwise lists all rows.
 *
 * @param indexes the names of the indexes that the run works on, for the progress.
 * @returns undefined if the signal stopped the count.
 */
export async function countRows(
  { kv, model, catalog, limits }: TableContext,
  run: MigrationRun,
  indexes: readonly string[],
): Promise<number | undefined> {
  const meter = run.meter(model.name, indexes);
  if (catalog.snapshot.counterState(rowCounter) === "readable") {
    const stored = await kv.get(rowCounterKey(model));
    const value = systemValue<KvU64>(stored, counterShape, model.name);
    const rows = Number(value?.value ?? 0n);
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
