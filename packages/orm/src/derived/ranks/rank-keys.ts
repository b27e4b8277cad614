import type { KvKey, KvKeyPart } from "@keywright/core";
import { partsOfSlot } from "../../model/aggregates/ranked-amounts.js";
import { systemPrefix } from "../../model/compiled-model.js";
import type { RankedReads } from "./ranked-table.js";

/**
 * The key of an entry without its first part. An interval is identified by the entry at which it
 * begins, which need not exist any longer. The first interval of a level begins at `[]`.
 */
export type Boundary = readonly KvKeyPart[];

/**
 * The size of intervals. One is split if it has more than twice as many parts, and merged if less
 * than half. All programs work with intervals of any size, so tests make them small.
 */
export const intervalSize: { parts: number } = { parts: 32 };
/**
 * The highest level of intervals. An interval of level 1 consists of entries, and one of each other
 * level of intervals of the level below it.
 */
export const topLevel = 3;
export const levels: readonly number[] = Array.from({ length: topLevel }, (_, i) => i + 1);

export const first: Boundary = [];
/** The last part of the key of a state. It sorts before the parts of all slots. */
export const stateSlot = "state";

type Counted = Pick<RankedReads, "counter">;

export function levelPrefix({ counter }: Counted, level: number): KvKeyPart[] {
  return [systemPrefix, "count", counter.prefix, level];
}

/** Returns the prefix of the numbers of an interval. */
export function intervalKey(table: Counted, level: number, boundary: Boundary): KvKeyPart[] {
  const prefix = levelPrefix(table, level);
  return boundary.length === 0 ? [...prefix, 0] : [...prefix, 1, ...boundary];
}

export function slotKey(table: Counted, level: number, boundary: Boundary, slot: string): KvKey {
  return [...intervalKey(table, level, boundary), ...partsOfSlot(slot)];
}

export function stateKey(table: Counted, level: number, boundary: Boundary): KvKey {
  return [...intervalKey(table, level, boundary), stateSlot];
}

/** Returns the prefix of the fences of a level. */
export function fencesPrefix({ counter }: Counted, level: number): KvKeyPart[] {
  return [systemPrefix, "count", counter.prefix, "fence", level];
}

/**
 * Returns the key that exists if writers add entries to an interval. Its versionstamp changes if
 * they may have to add some of them to another interval from now on.
 */
export function fenceKey(table: Counted, level: number, boundary: Boundary): KvKey {
  const prefix = fencesPrefix(table, level);
  return boundary.length === 0 ? [...prefix, 0] : [...prefix, 1, ...boundary];
}

/** Returns the longest key that an interval which begins at an entry may need. */
export function longestKey(table: Counted, boundary: Boundary): KvKey {
  return [...fenceKey(table, topLevel, boundary), 0, 0];
}
