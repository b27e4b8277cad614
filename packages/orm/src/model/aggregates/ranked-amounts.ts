import type { KvKeyPart } from "@keywright/core";
import type { AnyRow } from "../compiled-model.js";
import { amountOf, amountOfLimb, limbsOfAmount, valueCount } from "./amount.js";
import type { SummedField } from "./summed-field.js";

/**
 * Numbers of an interval of a ranked index, by their slots. `"0"` is the number of entries. `"1 0"`
 * is the limb 0 of its first sum. Each has 64 bits and wraps around, so that it can be negative.
 */
export type RankedAmounts = Map<string, bigint>;

/** The slot of the number of entries. */
export const countSlot = "0";

/** Returns what an entry of a row adds to each interval that contains it. */
export function rankedAmounts(sums: readonly SummedField[], row: AnyRow): RankedAmounts {
  const amounts: RankedAmounts = new Map([[countSlot, 1n]]);
  for (const [position, sum] of sums.entries()) {
    const amount = amountOf(sum, row[sum.field]);
    if (amount === undefined) continue;
    if (sum.isOptional) amounts.set(`${position + 1} ${valueCount}`, 1n);
    for (const [limb, by] of limbsOfAmount(amount)) amounts.set(`${position + 1} ${limb}`, by);
  }
  return amounts;
}

/** Returns the last parts of the key of a slot. */
export function partsOfSlot(slot: string): KvKeyPart[] {
  return slot.split(" ").map(Number);
}

/** Adds amounts, several times or a negative number of times. */
export function addAmounts(total: RankedAmounts, added: RankedAmounts, times = 1n): void {
  for (const [slot, by] of added) {
    total.set(slot, BigInt.asUintN(64, (total.get(slot) ?? 0n) + times * by));
  }
}

export function countOf(amounts: RankedAmounts): bigint {
  return BigInt.asIntN(64, amounts.get(countSlot) ?? 0n);
}

/** Returns a sum, and how many rows have a value. */
export function sumOf(
  amounts: RankedAmounts,
  sums: readonly SummedField[],
  position: number,
): { readonly sum: bigint; readonly count: bigint } {
  let sum = 0n;
  for (const [slot, value] of amounts) {
    const [first, limb] = slot.split(" ").map(Number);
    if (first !== position + 1 || limb === undefined || limb === valueCount) continue;
    sum += amountOfLimb(limb, value);
  }
  const withValue = amounts.get(`${position + 1} ${valueCount}`) ?? 0n;
  const count = sums[position]?.isOptional ? BigInt.asIntN(64, withValue) : countOf(amounts);
  return { sum, count };
}
