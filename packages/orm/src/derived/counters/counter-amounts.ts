import type { KvKey, KvKeyPart } from "@keywright/core";
import { amountOf, limbsOfAmount, valueCount } from "../../model/aggregates/amount.js";
import type { Counter } from "../../model/aggregates/counter.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { type IndexEntry, isAbsent } from "../../model/keys/index-entries.js";
import { keyText } from "../../model/keys/key-text.js";
import type { Effects } from "../effects.js";
import { counterKey } from "./counter-keys.js";
import type { CounterSet } from "./maintained-counters.js";

/** What a row adds to a counter. */
export interface CounterAmount {
  readonly counter: Counter;
  readonly key: KvKey;
  readonly by: bigint;
}

/**
 * Returns what a row adds to counters: to those of all rows, and for each of its entries to those
 * of the index. Ranked indexes have intervals instead: see `rankAmounts`.
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

/**
 * Returns the changes of what loses the first amounts and gets the second ones. Amounts with the
 * same key are added up. A negative change wraps around.
 */
export function amountChanges<Amount extends { readonly key: KvKey; readonly by: bigint }>(
  before: readonly Amount[],
  after: readonly Amount[],
): readonly Amount[] {
  if (before.length === 0 && after.length === 0) return [];
  const changes = new Map<string, { readonly amount: Amount; by: bigint }>();
  const add = (amount: Amount, by: bigint) => {
    const text = keyText(amount.key);
    const change = changes.get(text);
    if (change === undefined) changes.set(text, { amount, by });
    else change.by += by;
  };
  for (const amount of before) add(amount, -amount.by);
  for (const amount of after) add(amount, amount.by);
  return [...changes.values()]
    .filter(({ by }) => by !== 0n)
    .map(({ amount, by }) => ({ ...amount, by: BigInt.asUintN(64, by) }));
}

/** Adds to counters what changes when `before` loses its amounts and `after` gets its own. */
export function addAmountChanges(
  { writes }: Effects,
  before: readonly CounterAmount[],
  after: readonly CounterAmount[],
): void {
  for (const { key, by } of amountChanges(before, after)) writes.push({ type: "sum", key, by });
}
