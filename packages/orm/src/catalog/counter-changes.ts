import type { KvKey, KvKeyPart } from "@keywright/core";
import { counterKey } from "../indexes/counter-keys.js";
import { type IndexEntry, isAbsent } from "../indexes/index-entries.js";
import { keyText } from "../indexes/key-text.js";
import { amountOf, limbsOfAmount, valueCount } from "../model/aggregates/amount.js";
import type { Counter } from "../model/aggregates/counter.js";
import { rankedAmounts } from "../model/aggregates/ranked-amounts.js";
import type { SummedField } from "../model/aggregates/summed-field.js";
import type { AnyRow } from "../model/compiled-model.js";
import type { CounterSet } from "./catalog-snapshot.js";

/** Where a row is in a ranked index, and which number of its intervals it changes. */
export interface RankedPlace {
  readonly counter: Counter;
  /** The key of the entry without its first part. */
  readonly entry: readonly KvKeyPart[];
  /** See `RankedAmounts`. */
  readonly slot: string;
}

/** A change of one counter. */
export interface CounterChange {
  readonly key: KvKey;
  /** The number for a `sum`. It wraps around, so that it can subtract. */
  readonly by: bigint;
  /** Set if the key only identifies the change: the intervals that it changes must be found. */
  readonly ranked?: RankedPlace | undefined;
}

/** What a row adds to a counter. */
export interface CounterAmount {
  readonly counter: Counter;
  readonly key: KvKey;
  readonly by: bigint;
  readonly ranked?: RankedPlace | undefined;
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
    for (const counter of counters) {
      if (counter.ranked === undefined) addAmounts(amounts, counter, row, parts);
      else addRanked(amounts, counter, counter.ranked, row, key.slice(1));
    }
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

function addRanked(
  amounts: CounterAmount[],
  counter: Counter,
  sums: readonly SummedField[],
  row: AnyRow,
  entry: readonly KvKeyPart[],
): void {
  for (const [slot, by] of rankedAmounts(sums, row)) {
    const key = counterKey(counter, [...entry, slot]);
    amounts.push({ counter, key, by, ranked: { counter, entry, slot } });
  }
}

type Amount = Pick<CounterAmount, "key" | "by" | "ranked">;

/** Returns the changes of counters that lose the first amounts and get the second ones. */
export function counterChanges(
  before: readonly Amount[],
  after: readonly Amount[],
): readonly CounterChange[] {
  if (before.length === 0 && after.length === 0) return [];
  const changes = new Map<string, { readonly key: KvKey; by: bigint; ranked?: RankedPlace }>();
  const add = ({ key, ranked }: Amount, by: bigint) => {
    const text = keyText(key);
    const change = changes.get(text);
    if (change === undefined) changes.set(text, { key, by, ...(ranked && { ranked }) });
    else change.by += by;
  };
  for (const amount of before) add(amount, -amount.by);
  for (const amount of after) add(amount, amount.by);
  return [...changes.values()]
    .filter(({ by }) => by !== 0n)
    .map((change) => ({ ...change, by: BigInt.asUintN(64, change.by) }));
}
