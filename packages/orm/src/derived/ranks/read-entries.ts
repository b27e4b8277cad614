import type { KvEntry, KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import {
  addAmounts,
  type RankedAmounts,
  rankedAmounts,
} from "../../model/aggregates/ranked-amounts.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { primaryKeyOfEntry } from "../../model/keys/entry-value.js";
import { rowHasKey } from "../../model/keys/expected-entries.js";
import { rowKey } from "../../model/keys/primary-key.js";
import type { Boundary } from "./rank-keys.js";
import type { RankedReads } from "./ranked-table.js";
import { type EntryRange, type OnReads, selectorOf } from "./read-intervals.js";

/** Yields the entries of an index in a range, from a key on, in batches. */
export async function* listEntries(
  table: RankedReads,
  from: Boundary,
  range: EntryRange,
  onReads: OnReads,
  limit: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<KvEntry<unknown>[]> {
  const base = [table.index.place];
  const selector = selectorOf(table, base, [...base, ...from], range);
  if (selector === undefined) return;
  const options = Number.isFinite(limit) ? { limit } : {};
  const batchSize = Math.min(limit, table.batchSize);
  let batch: KvEntry<unknown>[] = [];
  for await (const entry of table.kv.list(selector, { ...options, batchSize })) {
    batch.push(entry);
    if (batch.length < batchSize) continue;
    onReads(batch.length);
    yield batch;
    batch = [];
  }
  if (batch.length === 0) return;
  onReads(batch.length);
  yield batch;
}

/** Returns the amounts of entries: those whose rows exist and have the key of the entry. */
export async function amountsOfEntries(
  table: RankedReads,
  entries: readonly KvEntry<unknown>[],
  onReads: OnReads,
): Promise<RankedAmounts> {
  const { model, index, sums } = table;
  const found = entries.flatMap(({ key, value }) => {
    const primaryKey = primaryKeyOfEntry(model, index, value);
    return primaryKey === undefined ? [] : [{ key, primaryKey }];
  });
  const rows = await readRows(table, found, onReads);
  const total: RankedAmounts = new Map();
  for (const [i, { key, primaryKey }] of found.entries()) {
    const row = rows[i]!;
    if (!rowHasKey(model, index, key, primaryKey, row)) continue;
    addAmounts(total, rankedAmounts(sums, row.value as AnyRow));
  }
  return total;
}

async function readRows(
  { kv, model, maxKeys }: RankedReads,
  entries: readonly { readonly primaryKey: readonly KvKeyPart[] }[],
  onReads: OnReads,
): Promise<KvEntryMaybe<unknown>[]> {
  onReads(entries.length);
  const keys: KvKey[] = entries.map(({ primaryKey }) => rowKey(model, primaryKey));
  const rows: KvEntryMaybe<unknown>[] = [];
  const size = Math.min(maxKeys, 500);
  for (let from = 0; from < keys.length; from += size) {
    rows.push(...(await kv.getMany(keys.slice(from, from + size))));
  }
  return rows;
}
