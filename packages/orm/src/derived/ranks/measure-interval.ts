import { addAmounts, type RankedAmounts } from "../../model/aggregates/ranked-amounts.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import type { Boundary } from "./rank-keys.js";
import { intervalKey } from "./rank-keys.js";
import type { RankedReads } from "./ranked-table.js";
import { amountsOfEntries, listEntries } from "./read-entries.js";
import { listGroups, TornRanksError, wholeIndex } from "./read-intervals.js";

const noReads = () => undefined;

/**
 * Returns the amounts that an interval lacks while it is split off: the sum of its entries minus
 * its stored amounts. Undefined if a writer changes the interval while its entries are read.
 *
 * Every writer of these entries changes the stored amounts. If these are the same before and after
 * the entries are read, no entry has changed during the read.
 */
export async function missingAmounts(
  table: RankedReads,
  level: number,
  from: Boundary,
  to: Boundary | undefined,
): Promise<RankedAmounts | undefined> {
  const before = await heldAmounts(table, level, from);
  const missing =
    level === 1
      ? await sumOfEntries(table, from, to)
      : await sumOfGroups(table, level - 1, from, to);
  const after = await heldAmounts(table, level, from);
  if (before.versions !== after.versions) return undefined;
  addAmounts(missing, before.amounts, -1n);
  return missing;
}

async function heldAmounts(
  table: RankedReads,
  level: number,
  boundary: Boundary,
): Promise<{ readonly amounts: RankedAmounts; readonly versions: string }> {
  const prefix = intervalKey(table, level, boundary);
  const amounts: RankedAmounts = new Map();
  let versions = "";
  for await (const { key, value, versionstamp } of table.kv.list<unknown>({ prefix })) {
    const slot = key.slice(prefix.length).join(" ");
    versions += `${slot} ${versionstamp} `;
    if (typeof value === "string") continue;
    amounts.set(slot, (value as { readonly value: bigint }).value);
  }
  return { amounts, versions };
}

async function sumOfEntries(
  table: RankedReads,
  from: Boundary,
  to: Boundary | undefined,
): Promise<RankedAmounts> {
  const total: RankedAmounts = new Map();
  for await (const batch of listEntries(table, from, { prefix: [], end: to }, noReads))
    addAmounts(total, await amountsOfEntries(table, batch, noReads));
  return total;
}

async function sumOfGroups(
  table: RankedReads,
  level: number,
  from: Boundary,
  to: Boundary | undefined,
): Promise<RankedAmounts> {
  const total: RankedAmounts = new Map();
  const range = to === undefined ? wholeIndex : { prefix: [], end: [...to, 1] };
  for await (const { amounts, end, intervals } of listGroups(table, level, from, range, noReads)) {
    if (to !== undefined && end === undefined) {
      if (!isSameKey(intervals[0]!.boundary, to)) throw new TornRanksError();
      return total;
    }
    addAmounts(total, amounts);
  }
  return total;
}
