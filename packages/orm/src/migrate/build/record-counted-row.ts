import type { AtomicCheck, KvEntry, KvMutation } from "@keywright/core";
import type { CatalogSnapshot } from "../../catalog/catalog-snapshot.js";
import { countedIn } from "../../catalog/counted-row.js";
import type { CounterAmount } from "../../catalog/counter-changes.js";
import type { TableContext } from "../../context/table-context.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { storedTime } from "../../model/rows/time.js";
import { countedRowMutations, readCountedRow } from "../../write/commit/counted-row-changes.js";
import { rowExpireAt } from "../../write/commit/row-expiry.js";

/** The checks and writes that record a counted row. Empty if the row does not expire. */
export interface CountedRowRecord {
  readonly checks: readonly AtomicCheck[];
  readonly mutations: readonly KvMutation[];
}

/**
 * Plans the record of the counters that include a row that expires. Those that included it before
 * the commit still include it.
 *
 * @param added what the row adds to counters that now include it too.
 */
export async function recordCountedRow(
  context: TableContext,
  snapshot: CatalogSnapshot,
  { key, expireAt: storedExpireAt }: KvEntry<AnyRow>,
  added: readonly CounterAmount[],
): Promise<CountedRowRecord> {
  const { model } = context;
  const primaryKey = key.slice(1);
  const stored = { primaryKey, expireAt: storedTime(storedExpireAt) };
  const { until, counters, check } = await readCountedRow(context, snapshot, primaryKey);
  const expireAt = await rowExpireAt(context, snapshot, stored);
  const change = {
    previous: until,
    counters: countedIn(snapshot.entry, [...counters, ...added]),
  };
  const mutations = countedRowMutations(model, primaryKey, change, expireAt);
  return { checks: mutations.length === 0 ? [] : [check], mutations };
}
