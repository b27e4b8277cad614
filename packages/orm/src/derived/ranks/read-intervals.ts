import { compareKeys, type KvEntry, type KvKey, type KvListSelector } from "@keywright/core";
import { addAmounts, type RankedAmounts } from "../../model/aggregates/ranked-amounts.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import { type Boundary, first, intervalKey, levelPrefix, stateSlot } from "./rank-keys.js";
import type { RankedReads } from "./ranked-table.js";

/** A range of the entries of an index, by their keys without the first part. */
export interface EntryRange {
  readonly prefix: Boundary;
  /** The first key. The beginning of the prefix if absent. */
  readonly start?: Boundary | undefined;
  /** The key after the last one. The end of the prefix if absent. */
  readonly end?: Boundary | undefined;
}

export const wholeIndex: EntryRange = { prefix: [] };

/** An interval as it is stored. */
export interface StoredInterval {
  readonly boundary: Boundary;
  /** While it is being split off or merged, what it holds also counts for its predecessor. */
  state: "growing" | "leaving" | undefined;
  readonly amounts: RankedAmounts;
  /** The entries in which it is stored. */
  readonly entries: KvEntry<unknown>[];
}

/**
 * Intervals that follow each other. Only the first one has no state. Their amounts together are
 * exactly those of the entries from the first boundary to `end`.
 */
export interface IntervalGroup {
  readonly intervals: readonly StoredInterval[];
  readonly amounts: RankedAmounts;
  /** The boundary of the next group. Undefined if there is none in the range. */
  readonly end: Boundary | undefined;
}

/** An interval was merged while it was read. The read must begin again. */
export class TornRanksError extends Error {}

/** Counts the entries that a read returns. */
export type OnReads = (count: number) => void;

/**
 * Yields the groups of a level, from one that begins at a boundary to the last one that begins in
 * the range. Each is read from one snapshot.
 *
 * @throws {TornRanksError} if no group begins at this boundary.
 */
export async function* listGroups(
  table: RankedReads,
  level: number,
  from: Boundary,
  range: EntryRange,
  onReads: OnReads,
  limit: number = table.batchSize,
): AsyncGenerator<IntervalGroup> {
  for (let start = from; ; ) {
    const selector = selectorFrom(table, level, start, range);
    const list = table.kv.list(selector, { limit, batchSize: limit });
    const entries: KvEntry<unknown>[] = [];
    for await (const entry of list) entries.push(entry);
    onReads(entries.length);
    const intervals = intervalsOf(table, level, entries);
    const [firstOne] = intervals;
    if (firstOne === undefined || !isSameKey(firstOne.boundary, start)) {
      if (start.length > 0) throw new TornRanksError();
      intervals.unshift({ boundary: first, state: undefined, amounts: new Map(), entries: [] });
    } else if (firstOne.state !== undefined) throw new TornRanksError();
    const isCutOff = entries.length === limit;
    const groups = groupsOf(intervals);
    // The last group may go on after the last entry.
    if (isCutOff && groups.length === 1) {
      if (limit < table.batchSize) {
        yield* listGroups(table, level, start, range, onReads);
        return;
      }
      throw new TornRanksError();
    }
    yield* isCutOff ? groups.slice(0, -1) : groups;
    if (!isCutOff) return;
    start = groups.at(-1)!.intervals[0]!.boundary;
  }
}

/** Returns the first group that begins at a boundary, with its end. */
export async function groupAt(
  table: RankedReads,
  level: number,
  boundary: Boundary,
  onReads: OnReads = () => undefined,
): Promise<IntervalGroup> {
  const limit = Math.min(table.batchSize, 32);
  for await (const group of listGroups(table, level, boundary, wholeIndex, onReads, limit))
    return group;
  throw new TornRanksError();
}

/**
 * Returns the first boundary from a key on at which a group begins, if there is one in the range.
 */
export async function nextGroup(
  table: RankedReads,
  level: number,
  from: Boundary,
  range: EntryRange,
  onReads: OnReads,
): Promise<Boundary | undefined> {
  const { prefix, end } = range;
  const base = [...levelPrefix(table, level), 1];
  const length = boundaryLength(table);
  for (let start: KvKey = [...base, ...from]; ; ) {
    const selector = selectorOf(table, base, start, { prefix, end });
    if (selector === undefined) return undefined;
    const next = await table.kv.list(selector, { limit: 1, batchSize: 1 }).next();
    if (next.done === true) return undefined;
    onReads(1);
    const { key } = next.value;
    const boundary = key.slice(base.length, base.length + length);
    const isBefore = compareKeys(boundary, from, table.model.keyOrder) < 0;
    if (!isBefore && key[base.length + length] !== stateSlot) return boundary;
    // Its state is the first of its entries. All others begin with a number.
    start = [...base, ...boundary, Number.POSITIVE_INFINITY];
  }
}

/** Returns a selector of the keys in a range, or undefined if there are none. */
export function selectorOf(
  { model }: RankedReads,
  base: KvKey,
  start: KvKey,
  { prefix, end }: EntryRange,
): KvListSelector | undefined {
  if (end === undefined) return withPrefix([...base, ...prefix], start);
  const last = [...base, ...end];
  return compareKeys(start, last, model.keyOrder) < 0 ? { start, end: last } : undefined;
}

function selectorFrom(
  table: RankedReads,
  level: number,
  start: Boundary,
  { prefix, end }: EntryRange,
): KvListSelector {
  const from = intervalKey(table, level, start);
  const base = levelPrefix(table, level);
  if (end !== undefined) return { start: from, end: [...base, 1, ...end] };
  return withPrefix(prefix.length === 0 ? base : [...base, 1, ...prefix], from);
}

/** Some databases refuse a start that is the prefix itself. */
function withPrefix(prefix: KvKey, start: KvKey): KvListSelector {
  return start.length === prefix.length ? { prefix } : { prefix, start };
}

function boundaryLength({ model, index }: RankedReads): number {
  return index.parts.length + (index.unique ? 0 : model.primaryKey.length);
}

function intervalsOf(
  table: RankedReads,
  level: number,
  entries: readonly KvEntry<unknown>[],
): StoredInterval[] {
  const at = levelPrefix(table, level).length;
  const length = boundaryLength(table);
  const intervals: StoredInterval[] = [];
  for (const entry of entries) {
    const { key, value } = entry;
    const slotAt = key[at] === 0 ? at + 1 : at + 1 + length;
    const boundary = key.slice(at + 1, slotAt);
    let interval = intervals.at(-1);
    if (interval === undefined || !isSameKey(interval.boundary, boundary)) {
      interval = { boundary, state: undefined, amounts: new Map(), entries: [] };
      intervals.push(interval);
    }
    interval.entries.push(entry);
    const slot = key.slice(slotAt);
    if (slot[0] === stateSlot) interval.state = value as StoredInterval["state"];
    else interval.amounts.set(slot.join(" "), (value as { readonly value: bigint }).value);
  }
  return intervals;
}

function groupsOf(intervals: readonly StoredInterval[]): IntervalGroup[] {
  const groups: StoredInterval[][] = [];
  for (const interval of intervals) {
    if (interval.state === undefined) groups.push([interval]);
    else groups.at(-1)!.push(interval);
  }
  return groups.map((ofGroup, i) => {
    const amounts: RankedAmounts = new Map();
    for (const interval of ofGroup) addAmounts(amounts, interval.amounts);
    return { intervals: ofGroup, amounts, end: groups[i + 1]?.[0]?.boundary };
  });
}
