import type { KvEntry, KvKeyPart, KvU64 } from "@keywright/core";
import { rowCounter } from "../../catalog/catalog-entry.js";
import type { TableContext } from "../../context/table-context.js";
import { rowCounterKey } from "../../indexes/counter-keys.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { entriesAfter } from "./entries-after.js";
import { ProgressMeter } from "./migration-progress.js";
import { type MigrationRun, maxBatchRows } from "./migration-run.js";

/**
 * The next entries under a model's prefix, in order: its rows, and what somebody may have stored under the key of one, whose
 * key is longer.
 *
 * @param after the primary key behind which they begin; null for the first ones.
 * @param limit entries at the most, {@link maxBatchRows} at the most; there are fewer only at the end.
 */
export async function nextRows(
  { kv, model, limits }: TableContext,
  after: readonly KvKeyPart[] | null,
  limit: number,
): Promise<KvEntry<AnyRow>[]> {
  const prefix = [model.prefix];
  const last = after === null ? null : [...prefix, ...after];
  return await entriesAfter<AnyRow>(kv, limits, prefix, last, limit);
}

/**
 * Counts a model's rows, so that the progress has an end: by its counter where it keeps one, else one by one.
 *
 * @param indexes the names of those that are worked at, for the progress.
 * @returns undefined where the signal stopped it.
 * @throws {LeaseLostError} where another runner has the lease.
 */
export async function countRows(
  { kv, model, catalog, limits }: TableContext,
  run: MigrationRun,
  indexes: readonly string[],
): Promise<number | undefined> {
  const meter = new ProgressMeter(model.name, indexes, run.onProgress);
  if (catalog.snapshot.counterState(rowCounter) === "readable") {
    const { value } = await kv.get<KvU64>(rowCounterKey(model));
    const rows = Number(value?.value ?? 0n);
    meter.counting(rows);
    return rows;
  }
  let rows = 0;
  const batchSize = Math.min(maxBatchRows, limits.batchSize);
  for await (const _ of kv.list({ prefix: [model.prefix] }, { batchSize })) {
    rows++;
    if (rows % batchSize !== 0) continue;
    // Counting is no work that a bound on rows a second is about, but others have their turn.
    await run.took(0);
    if (run.signal?.aborted) return undefined;
    if (rows % 10_000 === 0) meter.counting(rows);
  }
  meter.counting(rows);
  return rows;
}
