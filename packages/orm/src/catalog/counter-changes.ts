import type { KvKey } from "@keywright/core";
import { indexCounterKey, rowCounterKey } from "../indexes/counter-keys.js";
import type { IndexEntry } from "../indexes/index-entries.js";
import { keyText } from "../indexes/key-text.js";
import type { CompiledModel } from "../model/compiled-model.js";
import type { CounterSet } from "./catalog-snapshot.js";

/** A change of one counter. */
export interface CounterChange {
  readonly key: KvKey;
  /** The number for a `sum`. It wraps around, so that it can subtract. */
  readonly by: bigint;
}

/**
 * Returns the keys of the counters that include a row: that of all rows, and one for each entry in
 * a counted index. A key occurs as often as its counter includes the row.
 *
 * @param entries the entries of the row in the indexes. Undefined if there is no row.
 */
export function counterKeys(
  model: CompiledModel,
  { rows, indexes }: CounterSet,
  entries: readonly IndexEntry[] | undefined,
): KvKey[] {
  if (entries === undefined) return [];
  const keys = rows ? [rowCounterKey(model)] : [];
  if (indexes.size === 0) return keys;
  for (const { index, key } of entries) {
    if (!indexes.has(index)) continue;
    keys.push(indexCounterKey(index, key.slice(1, 1 + index.parts.length)));
  }
  return keys;
}

/** Returns the changes of counters that no longer include the first keys, but the second ones. */
export function counterChanges(
  before: readonly KvKey[],
  after: readonly KvKey[],
): readonly CounterChange[] {
  if (before.length === 0 && after.length === 0) return [];
  const changes = new Map<string, { readonly key: KvKey; by: bigint }>();
  const add = (key: KvKey, by: bigint) => {
    const text = keyText(key);
    const change = changes.get(text);
    if (change === undefined) changes.set(text, { key, by });
    else change.by += by;
  };
  for (const key of before) add(key, -1n);
  for (const key of after) add(key, 1n);
  return [...changes.values()]
    .filter(({ by }) => by !== 0n)
    .map(({ key, by }) => ({ key, by: BigInt.asUintN(64, by) }));
}
