import type { AtomicCheck } from "@keywright/core";
import { countOf, countSlot } from "../../model/aggregates/ranked-amounts.js";
import { canBeStored } from "../../model/keys/can-be-stored.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import type { Fence } from "./fences.js";
import {
  type Boundary,
  fenceKey,
  intervalSize,
  longestKey,
  slotKey,
  stateKey,
} from "./rank-keys.js";
import type { RankedTable } from "./ranked-table.js";
import { listEntries } from "./read-entries.js";
import { groupAt, type IntervalGroup, listGroups, wholeIndex } from "./read-intervals.js";

/** How many intervals one commit splits off at most. */
const maxPieces = 8;
const noReads = () => undefined;

/** The size of a group: the number of its parts, or that it has more than can be read at once. */
export interface GroupParts {
  /** The boundaries of the first parts. */
  readonly parts: readonly Boundary[];
  readonly isTooLarge: boolean;
  readonly isTooSmall: boolean;
}

const keepsSize: GroupParts = { parts: [], isTooLarge: false, isTooSmall: false };

/** Reads the parts of a group, unless it is known to have the right size. */
export async function partsOf(
  table: RankedTable,
  level: number,
  { intervals, amounts, end }: IntervalGroup,
): Promise<GroupParts> {
  const { parts: size } = intervalSize;
  const from = intervals[0]!.boundary;
  const limit = maxPieces * size + 1;
  const range = { prefix: [], end };
  const parts: Boundary[] = [];
  if (level === 1) {
    const count = countOf(amounts);
    const isTooSmall = count < size / 2;
    if (count <= 2 * size) return { ...keepsSize, isTooSmall };
    for await (const batch of listEntries(table, from, range, noReads, limit))
      parts.push(...batch.map(({ key }) => key.slice(1)));
  } else {
    const within = end === undefined ? wholeIndex : range;
    for await (const { intervals: [head] = [] } of listGroups(
      table,
      level - 1,
      from,
      within,
      noReads,
    )) {
      if (parts.push(head!.boundary) === limit) break;
    }
  }
  const isTooLarge = parts.length > 2 * size;
  return { parts, isTooLarge, isTooSmall: parts.length < size / 2 };
}

/**
 * Begins to split intervals off a group. From the commit on, writers add to them, but what they
 * already contain still counts for the first interval: see `completeGroup`.
 *
 * @param fence the fence of the group, as it was read before the group.
 * @returns the last of the new boundaries. Undefined if others have changed the group.
 */
export async function beginSplit(
  table: RankedTable,
  level: number,
  fence: Fence,
  { parts }: GroupParts,
  keyBytes: number,
  check: AtomicCheck,
): Promise<Boundary | undefined> {
  const { parts: size } = intervalSize;
  const pieces = Math.min(maxPieces, Math.floor(parts.length / size));
  const boundaries = Array.from({ length: pieces - 1 }, (_, i) => parts[(i + 1) * size]!);
  const operation = table.kv.atomic().check(check, fence.check);
  if (level > 1) {
    const checks = await boundaryChecks(table, level - 1, boundaries);
    if (checks === undefined) return undefined;
    operation.check(...checks);
  }
  operation.set(fence.check.key as Boundary, true);
  let last: Boundary | undefined;
  for (const boundary of boundaries) {
    if (!canBeStored(longestKey(table, boundary), keyBytes)) continue;
    operation.set(fenceKey(table, level, boundary), true);
    operation.set(stateKey(table, level, boundary), "growing");
    operation.sum(slotKey(table, level, boundary, countSlot), 0n);
    last = boundary;
  }
  if (last === undefined) return undefined;
  return (await operation.commit()).ok ? last : undefined;
}

/**
 * Returns checks that groups of the level below begin at these boundaries. An interval that loses
 * its fence no longer holds a group, and only one without a state does.
 */
async function boundaryChecks(
  table: RankedTable,
  level: number,
  boundaries: readonly Boundary[],
): Promise<AtomicCheck[] | undefined> {
  const checks: AtomicCheck[] = [];
  for (const boundary of boundaries) {
    const { key, versionstamp } = await table.kv.get(fenceKey(table, level, boundary));
    const state = await table.kv.get(stateKey(table, level, boundary));
    if (versionstamp === null || state.versionstamp !== null) return undefined;
    checks.push({ key, versionstamp });
  }
  return checks;
}

/**
 * Begins to merge a group into the one before it. From the commit on, writers add to that one.
 *
 * @param before the fence of the group before it.
 * @param higher the fence that the level above must not have at this boundary.
 * @returns false if others have changed one of the groups.
 */
export async function beginMerge(
  table: RankedTable,
  level: number,
  before: Fence,
  fence: Fence,
  higher: AtomicCheck | undefined,
  check: AtomicCheck,
): Promise<boolean> {
  const group = await groupAt(table, level, before.boundary);
  const isAdjacent = group.end !== undefined && isSameKey(group.end, fence.boundary);
  if (!isAdjacent || group.intervals.length > 1) return false;
  const operation = table.kv.atomic().check(check, before.check, fence.check);
  if (higher !== undefined) operation.check(higher);
  operation.set(before.check.key as Boundary, true);
  operation.delete(fence.check.key);
  operation.set(stateKey(table, level, fence.boundary), "leaving");
  return (await operation.commit()).ok;
}

/**
 * Gives up a split that cannot end, because writers keep changing the new intervals. From the
 * commit on, they leave the group as those of a merge do.
 *
 * @param fence the fence of the group, as it was read before the group.
 */
export async function undoSplit(
  table: RankedTable,
  level: number,
  fence: Fence,
  { intervals }: IntervalGroup,
  check: AtomicCheck,
): Promise<boolean> {
  const operation = table.kv.atomic().check(check, fence.check);
  operation.set(fence.check.key as Boundary, true);
  for (const { boundary, entries } of intervals.slice(1)) {
    const { key, versionstamp } = entries[0]!;
    operation.check({ key, versionstamp });
    operation.set(key, "leaving");
    operation.delete(fenceKey(table, level, boundary));
  }
  return (await operation.commit()).ok;
}
