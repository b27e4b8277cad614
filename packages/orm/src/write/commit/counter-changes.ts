import { type KvKey, type KvMutation, KvU64 } from "@keywright/core";
import type { CounterSet } from "../../catalog/catalog-snapshot.js";
import { indexCounterKey, rowCounterKey } from "../../indexes/counter-keys.js";
import { type IndexEntry, indexChanges } from "../../indexes/index-entries.js";
import type { CompiledModel } from "../../model/compiled-model.js";

const one = new KvU64(1n);
/** What a sum takes away one with: it wraps around. */
const minusOne = new KvU64(2n ** 64n - 1n);

/**
 * What a change of a row does to some counters of its model: one more for the row where it comes to be and for each entry
 * that it gets in a counted index, one less for what goes.
 *
 * @param before the entries of the row that the counters hold; undefined where they hold none of it.
 * @param after its entries from now on; undefined where it is deleted.
 */
export function counterChanges(
  model: CompiledModel,
  { rows, indexes }: CounterSet,
  before: readonly IndexEntry[] | undefined,
  after: readonly IndexEntry[] | undefined,
): KvMutation[] {
  const mutations: KvMutation[] = [];
  if (rows && before === undefined && after !== undefined)
    mutations.push(sum(rowCounterKey(model), one));
  if (rows && before !== undefined && after === undefined) {
    mutations.push(sum(rowCounterKey(model), minusOne));
  }
  if (indexes.size === 0) return mutations;
  const { removed, added } = indexChanges(before ?? [], after ?? []);
  for (const entry of removed) {
    if (indexes.has(entry.index)) mutations.push(sum(groupKey(entry), minusOne));
  }
  for (const entry of added) {
    if (indexes.has(entry.index)) mutations.push(sum(groupKey(entry), one));
  }
  return mutations;
}

/** Where the entries with the same parts as this one are counted. */
function groupKey({ index, key }: IndexEntry): KvKey {
  return indexCounterKey(index, key.slice(1, 1 + index.parts.length));
}

function sum(key: KvKey, value: KvU64): KvMutation {
  return { type: "sum", key, value };
}
