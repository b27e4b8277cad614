import type { AtomicCheck, AtomicOperation } from "@keywright/core";
import { addAmounts, type RankedAmounts } from "../../model/aggregates/ranked-amounts.js";
import { missingAmounts } from "./measure-interval.js";
import { type Boundary, slotKey, stateKey } from "./rank-keys.js";
import type { RankedTable } from "./ranked-table.js";
import type { IntervalGroup, StoredInterval } from "./read-intervals.js";

const maxMeasurements = 5;

/**
 * Ends the split or the merge of a group, whoever has begun it. Writers do not wait for it.
 *
 * @param check the check of the catalog entry.
 * @returns false if it has to be tried again: others have ended it, or keep changing its intervals.
 */
export async function completeGroup(
  table: RankedTable,
  level: number,
  { intervals, end }: IntervalGroup,
  check: AtomicCheck,
): Promise<boolean> {
  const [head, ...others] = intervals;
  if (head === undefined || others.length === 0) return true;
  const operation = table.kv.atomic().check(check);
  for (const { entries } of others) operation.check(stateCheck(entries));
  const leaving = others.filter(({ state }) => state === "leaving");
  const growing = others.filter(({ state }) => state === "growing");
  for (const { amounts, entries } of leaving) {
    // No writer adds to it any longer.
    addTo(operation, table, level, head.boundary, amounts);
    for (const { key } of entries) operation.delete(key);
  }
  if (growing.length > 0) {
    const missing = await missingOfEach(table, level, [head, ...growing], end);
    if (missing === undefined) return false;
    for (const [i, { boundary }] of [head, ...growing].entries())
      addTo(operation, table, level, boundary, missing[i]!);
    for (const { boundary } of growing) operation.delete(stateKey(table, level, boundary));
  }
  return (await operation.commit()).ok;
}

function stateCheck(entries: StoredInterval["entries"]): AtomicCheck {
  const [{ key, versionstamp }] = entries as [StoredInterval["entries"][number]];
  return { key, versionstamp };
}

function addTo(
  operation: AtomicOperation,
  table: RankedTable,
  level: number,
  boundary: Boundary,
  amounts: RankedAmounts,
): void {
  for (const [slot, by] of amounts) {
    const key = slotKey(table, level, boundary, slot);
    if (by !== 0n) operation.sum(key, by);
  }
}

/**
 * Returns what each interval lacks. The sum over all intervals is zero, so one interval need not be
 * measured. It is the last one, where most writes are if keys ascend, or one that changes during
 * each measurement.
 */
async function missingOfEach(
  table: RankedTable,
  level: number,
  intervals: readonly StoredInterval[],
  end: Boundary | undefined,
): Promise<RankedAmounts[] | undefined> {
  const last = intervals.length - 1;
  const missing: (RankedAmounts | undefined)[] = [];
  const measure = async (i: number) => {
    const to = intervals[i + 1]?.boundary ?? end;
    for (let left = maxMeasurements; left > 0 && missing[i] === undefined; left--)
      missing[i] = await missingAmounts(table, level, intervals[i]!.boundary, to);
  };
  for (let i = 0; i < last; i++) await measure(i);
  const unmeasured = () => intervals.flatMap((_, i) => (missing[i] === undefined ? [i] : []));
  if (unmeasured().length > 1) await measure(last);
  const [rest, ...others] = unmeasured();
  if (others.length > 0) return undefined;
  if (rest !== undefined) {
    const difference: RankedAmounts = new Map();
    for (const amounts of missing) if (amounts !== undefined) addAmounts(difference, amounts, -1n);
    missing[rest] = difference;
  }
  return missing as RankedAmounts[];
}
