import { type KvKey, type KvMutation, KvU64 } from "@keywright/core";
import type { CounterSet } from "../../catalog/catalog-snapshot.js";
import { indexCounterKey, rowCounterKey } from "../../indexes/counter-keys.js";
import { type IndexEntry, indexChanges } from "../../indexes/index-entries.js";
import type { CompiledModel } from "../../model/compiled-model.js";

const one = new KvU64(1n);
/** Subtracts 1 in a `sum`, which wraps around. */
const minusOne = new KvU64(2n ** 64n - 1n);

/**
 * Returns the mutations of counters for a change of a row. A created row and each entry added to a
 * counted index add 1. A deleted row and each removed entry subtract 1.
 *
 * @param before the entries that the counters contain. Undefined if they do not contain the row.
 * @param after the entries after the change. Undefined if the row is deleted.
 */
export function counterChanges(
  model: CompiledModel,
  { rows, indexes }: CounterSet,
  before: readonly IndexEntry[] | undefined,
  after: readonly IndexEntry[] | undefined,
): KvMutation[] {
  const mutations: KvMutation[] = [];
  if (rows && (before === undefined) !== (after === undefined)) {
    mutations.push(sum(rowCounterKey(model), before === undefined ? one : minusOne));
  }
  if (indexes.size === 0) return mutations;
  const { removed, added } = indexChanges(before ?? [], after ?? []);
  const isCounted = ({ index }: IndexEntry) => indexes.has(index);
  for (const entry of removed.filter(isCounted)) mutations.push(sum(groupKey(entry), minusOne));
  for (const entry of added.filter(isCounted)) mutations.push(sum(groupKey(entry), one));
  return mutations;
}

/** Returns the key of the counter for entries with the same index parts as this one. */
function groupKey({ index, key }: IndexEntry): KvKey {
  return indexCounterKey(index, key.slice(1, 1 + index.parts.length));
}

function sum(key: KvKey, value: KvU64): KvMutation {
  return { type: "sum", key, value };
}
