import type { Derived, IndexedRow, RowChange } from "../derived.js";
import type { Effects } from "../effects.js";
import type { View } from "../view.js";
import { assertSummable } from "./assert-summable.js";
import { countedIn } from "./counted-row.js";
import { type CountedRow, countedRowWrites, readCountedRow } from "./counted-row-changes.js";
import { amountChanges, type CounterAmount, counterAmounts } from "./counter-amounts.js";
import { settleRegularly } from "./settle-regularly.js";

/** Counts and sums, of all rows and of the keys of indexes. */
export const counters: Derived = {
  name: "counters",
  plan(change, view, effects) {
    const { model, snapshot } = view;
    if (snapshot.counters === undefined && snapshot.growingCounters === undefined) return;
    const { primaryKey, after } = change;
    if (after !== undefined) assertSummable(model, snapshot, after.row, primaryKey);
    if (!snapshot.recordsCounted) return addChanges(change, view, effects, undefined);
    return readCountedRow(view, primaryKey).then((recorded) =>
      addChanges(change, view, effects, recorded),
    );
  },
};

/** @param recorded the counters that include the row, if this is recorded for rows that expire. */
function addChanges(
  { primaryKey, before, after, beforeExpires, expiry, isSeen }: RowChange,
  view: View,
  { checks, writes, upkeep }: Effects,
  recorded: CountedRow | undefined,
): void {
  const { snapshot } = view;
  const counted = amountsOf(view, after, true);
  // Of a row that expires, the record alone tells which counters include it.
  const isRecorded = recorded !== undefined && (recorded.until !== undefined || beforeExpires);
  const countedBefore = isRecorded ? recorded.counters : amountsOf(view, before, isSeen);
  for (const { key, by } of amountChanges(countedBefore, counted)) {
    writes.push({ type: "sum", key, by });
  }
  if (recorded === undefined) return;
  checks.push(recorded.check);
  const inCounters = expiry === undefined ? undefined : countedIn(snapshot.entry, counted);
  writes.push(...countedRowWrites(view.model, primaryKey, recorded.until, expiry, inCounters));
  if (inCounters !== undefined) upkeep.push(() => settleRegularly(view));
}

/** @param isSeen true if also the counters that are being built include the row. */
function amountsOf(
  { snapshot: { counters, growingCounters } }: View,
  indexed: IndexedRow | undefined,
  isSeen: boolean,
): CounterAmount[] {
  if (indexed === undefined) return [];
  const { row, entries } = indexed;
  const amounts = counters === undefined ? [] : counterAmounts(counters, row, entries);
  if (growingCounters === undefined || !isSeen) return amounts;
  return [...amounts, ...counterAmounts(growingCounters, row, entries)];
}
