import type { KvKeyPart } from "@keywright/core";
import { AmountInvalidError } from "../../errors/row-errors.js";
import { amountOf, limbsOf } from "../../model/aggregates/amount.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { isAbsent } from "../../model/keys/index-entries.js";
import { pointerOf } from "../../model/keys/primary-key.js";
import type { ReadView } from "../../state/context/read-view.js";
import type { Derived, RowChange } from "../derived.js";
import type { Effects } from "../effects.js";
import { addAmountChanges, counterAmounts } from "./counter-amounts.js";
import { countedIn } from "./expired/counted-row.js";
import {
  type CountedRow,
  countedRowWrites,
  readCountedRow,
} from "./expired/counted-row-changes.js";
import { subtractRegularly } from "./expired/subtract-expired-rows.js";
import { maintainedAmounts, maintainedCounters } from "./maintained-counters.js";

/** Counts and sums, of all rows and of the keys of indexes. */
export const counters: Derived = {
  name: "counters",
  isKept({ snapshot }) {
    const { complete, growing } = maintainedCounters(snapshot);
    return complete !== undefined || growing !== undefined;
  },
  plan(change, view, effects) {
    const { snapshot } = view;
    const { primaryKey, after } = change;
    if (after !== undefined) assertSummable(snapshot.writeModel, after.row, primaryKey);
    const { recordsRows } = maintainedCounters(snapshot);
    if (!recordsRows) return addChanges(change, view, effects, undefined);
    return readCountedRow(view, primaryKey).then((recorded) =>
      addChanges(change, view, effects, recorded),
    );
  },
  dependsOn({ snapshot }) {
    const { growing, recordsRows } = maintainedCounters(snapshot);
    if (growing !== undefined || recordsRows) return undefined;
    // A plan refuses a value with too many digits, also one that was stored before.
    const hasSums = snapshot.writeModel.counters.some(({ sum }) => sum !== undefined);
    // The others depend on the entries of a row, and on its existence.
    return hasSums ? undefined : [];
  },
  cost({ counters: all }) {
    const sizes = all.map(({ sum, isRanked }) => {
      if (isRanked) return 0;
      return sum === undefined ? 1 : limbsOf(sum).length;
    });
    return { checks: 0, writes: 2 * sizes.reduce((total, size) => total + size, 0) };
  },
};

/** @param recorded the counters that include the row, if this is recorded for rows that expire. */
function addChanges(
  { primaryKey, before, after, beforeExpires, expiry, isSeen }: RowChange,
  view: ReadView,
  effects: Effects,
  recorded: CountedRow | undefined,
): void {
  const { snapshot } = view;
  const counted = maintainedAmounts(view, after, true, counterAmounts);
  // Of a row that expires, the record alone tells which counters include it.
  const isRecorded = recorded !== undefined && (recorded.until !== undefined || beforeExpires);
  const countedBefore = isRecorded
    ? recorded.counters
    : maintainedAmounts(view, before, isSeen, counterAmounts);
  addAmountChanges(effects, countedBefore, counted);
  if (recorded === undefined) return;
  effects.checks.push(recorded.check);
  const inCounters = expiry === undefined ? undefined : countedIn(snapshot.entry, counted);
  effects.writes.push(
    ...countedRowWrites(view.model, primaryKey, recorded.until, expiry, inCounters, countedBefore),
  );
  if (inCounters !== undefined) effects.upkeep.push(() => subtractRegularly(view.store));
}

/** @throws {AmountInvalidError} if a value has more digits than a sum holds. */
function assertSummable(
  { name, counters }: CompiledModel,
  row: AnyRow,
  primaryKey: readonly KvKeyPart[],
): void {
  for (const { sum } of counters) {
    if (sum === undefined || isAbsent(row[sum.field])) continue;
    if (amountOf(sum, row[sum.field]) !== undefined) continue;
    throw new AmountInvalidError(name, sum.field, sum.scale, pointerOf(primaryKey));
  }
}
