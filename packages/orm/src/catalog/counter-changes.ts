import type { KvKey, KvKeyPart } from "@keywright/core";
import { counterKey } from "../indexes/counter-keys.js";
import { type IndexEntry, isAbsent } from "../indexes/index-entries.js";
import { keyText } from "../indexes/key-text.js";
import { amountOf, limbsOfAmount, valueCount } from "../model/aggregates/amount.js";
import type { Counter } from "../model/aggregates/counter.js";
import type { AnyRow } from "../model/compiled-model.js";
import type { CounterSet } from "./catalog-snapshot.js";

/** A change of one counter. */
export interface CounterChange {
  readonly key: KvKey;
  /** The number for a `sum`. It wraps around, so that it can subtract. */
  readonly by: bigint;
}

/** What a row adds to a counter. */
export interface CounterAmount {
  readonly counter: Counter;
  readonly key: KvKey;
  readonly by: bigint;
}

/**
 * Returns what a row adds to counters: to those of all rows, and for each of its entries to those
 * of the index.
 *
 * @param row the row as it is stored. Undefined if there is none.
 * @param entries the entries of the row in the indexes.
 */
export function counterAmounts(
  { rows, indexes }: CounterSet,
  row: AnyRow | undefined,
  entries: readonly IndexEntry[] | undefined,
): CounterAmount[] {
  if (row === undefined || entries === undefined) return [];
  const amounts: CounterAmount[] = [];
  for (const counter of rows) {
    const { unmarked } = counter;
    if (unmarked === undefined || isAbsent(row[unmarked])) addAmounts(amounts, counter, row, []);
  }
  if (indexes.size === 0) return amounts;
  for (const { index, key } of entries) {
    const counters = indexes.get(index);
    if (counters === undefined) continue;
    const parts = key.slice(1, 1 + index.parts.length);
    for (const counter of counters) addAmounts(amounts, counter, row, parts);
  }
  return amounts;
}

function addAmounts(
  amounts: CounterAmount[],
  counter: Counter,
  row: AnyRow,
  parts: readonly KvKeyPart[],
): void {
  const { sum } = counter;
  if (sum === undefined) {
    amounts.push({ counter, key: counterKey(counter, parts), by: 1n });
    return;
  }
  const amount = amountOf(sum, row[sum.field]);
  if (amount === undefined) return;
  if (sum.isOptional) {
    amounts.push({ counter, key: counterKey(counter, parts, valueCount), by: 1n });
  }
  for (const [limb, by] of limbsOfAmount(amount)) {
    amounts.push({ counter, key: counterKey(counter, parts, limb), by });
  }
}

type Amount = Pick<CounterAmount, "key" | "by">;

/** Returns the changes of counters that lose the first amounts and get the second ones. */
export function counterChanges(
  before: readonly Amount[],
  after: readonly Amount[],
): readonly CounterChange[] {
  if (before.length === 0 && after.length === 0) return [];
  const changes = new Map<string, { readonly key: KvKey; by: bigint }>();
  const add = (key: KvKey, by: bigint) => {
    const text = keyText(key);
    const change = changes.get(text);
    if (change === undefined) changes.set(text, { key, by });
    else change.by += by;
  };
  for (const { key, by } of before) add(key, -by);
  for (const { key, by } of after) add(key, by);
  return [...changes.values()]
    .filter(({ by }) => by !== 0n)
    .map(({ key, by }) => ({ key, by: BigInt.asUintN(64, by) }));
}
