import type { AtomicCheck } from "@keywright/core";
import type { Counter } from "../../model/aggregates/counter.js";
import type { CounterName } from "../../model/aggregates/counter-name.js";
import { countSlot } from "../../model/aggregates/ranked-amounts.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import type { ModelStore } from "../../state/context/model-store.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import { completeGroup } from "./complete-group.js";
import { type Fence, fenceBefore, findFence } from "./fences.js";
import type { RankAmount } from "./rank-amounts.js";
import { type Boundary, fenceKey, first, levels, stateKey, topLevel } from "./rank-keys.js";
import { type RankedTable, rankedTable } from "./ranked-table.js";
import { groupAt, type IntervalGroup, TornRanksError } from "./read-intervals.js";
import { beginMerge, beginSplit, partsOf, undoSplit } from "./split-group.js";

/**
 * `"kept"` if the group has the right size, `"blocked"` if the level above must be merged first.
 */
type Outcome = "kept" | "changed" | "blocked" | "failed";

/** How often a build tries to split a group. */
const maxFailures = 10;

/** After how many changes of entries the intervals of one of them are looked at. A prime number. */
const changesBetween = 17;

/** The longest pause after failures, as a number of such changes. */
const maxPause = 64;

interface Schedule {
  changes: number;
  /** Back-off: total skips, and skips remaining. */
  pause: number;
  left: number;
}

const schedules = new WeakMap<Counter, Schedule>();

/**
 * Splits or merges the intervals of ranked indexes that contain some of the changed entries, if
 * they have become too large or too small.
 */
export async function rebalanceRegularly(
  store: ModelStore,
  changes: readonly RankAmount[],
): Promise<void> {
  const { catalog } = store;
  for (const { counter, entry, slot } of changes) {
    if (slot !== countSlot) continue;
    const schedule = schedules.get(counter) ?? { changes: 0, pause: 0, left: 0 };
    schedules.set(counter, schedule);
    if (++schedule.changes % changesBetween !== 0 || schedule.left-- > 0) continue;
    if (catalog.snapshot.counterState(counter.name) !== "readable") continue;
    try {
      const isDone = await rebalanceRanks({ ...store, kv: catalog.database }, counter, entry);
      // If writers are too fast, they would only be slowed down.
      schedule.pause = isDone ? 0 : Math.min(maxPause, 2 * schedule.pause + 1);
      schedule.left = schedule.pause;
    } catch {
      // The write that it follows has not failed. The next call continues.
    }
  }
}

/**
 * Splits or merges the intervals that contain an entry, if they have become too large or too small.
 * Intervals count right with any boundaries. So this may fail, or the process may die, at any
 * commit: the next call continues.
 *
 * @returns false if others keep changing the intervals.
 */
export async function rebalanceRanks(
  store: ModelStore,
  counter: Counter,
  entry: Boundary,
): Promise<boolean> {
  const table = rankedTable(store, counter);
  if (table === undefined) return true;
  try {
    return await rebalanceFrom(store, table, 1, entry);
  } catch (error) {
    if (error instanceof TornRanksError) return false;
    throw error;
  }
}

async function rebalanceFrom(
  store: ModelStore,
  table: RankedTable,
  level: number,
  entry: Boundary,
): Promise<boolean> {
  const outcome = await rebalanceLevel(store, table, level, entry);
  if (outcome === "failed") return false;
  if (outcome === "kept" || level === topLevel) return true;
  const isDone = await rebalanceFrom(store, table, level + 1, entry);
  if (outcome === "blocked") await rebalanceLevel(store, table, level, entry);
  return isDone;
}

async function rebalanceLevel(
  store: ModelStore,
  table: RankedTable,
  level: number,
  entry: Boundary,
): Promise<Outcome> {
  let outcome: Outcome = "kept";
  for (let at = entry; ; ) {
    const found = await completedGroup(store, table, level, at);
    if (found === undefined) return "failed";
    const { fence, group } = found;
    const parts = await partsOf(table, level, group);
    if (parts.isTooLarge) {
      const last = await split(store, table, level, fence, parts);
      if (last === undefined) return outcome === "kept" ? "failed" : outcome;
      outcome = "changed";
      at = last;
      continue;
    }
    if (!parts.isTooSmall || fence.boundary.length === 0) return outcome;
    return await merge(store, table, level, fence, outcome);
  }
}

async function split(
  { catalog, limits }: ModelStore,
  table: RankedTable,
  level: number,
  fence: Fence,
  parts: Awaited<ReturnType<typeof partsOf>>,
): Promise<Boundary | undefined> {
  const { check } = catalog.snapshot;
  const last = await beginSplit(table, level, fence, parts, limits.keyBytes, check);
  if (last === undefined) return undefined;
  const group = await groupAt(table, level, fence.boundary);
  if (await completeGroup(table, level, group, check)) return last;
  await giveUp(table, level, fence.boundary, check);
  return undefined;
}

/**
 * Ends a split without new intervals, if writers keep changing them. A later one, of a group with
 * more entries, can end: it splits off as many entries, but they are a smaller part of all.
 */
async function giveUp(
  table: RankedTable,
  level: number,
  boundary: Boundary,
  check: AtomicCheck,
): Promise<void> {
  const fence = await findFence(table, level, boundary);
  if (!isSameKey(fence.boundary, boundary)) return;
  const group = await groupAt(table, level, boundary);
  if (!group.intervals.slice(1).every(({ state }) => state === "growing")) return;
  if (group.intervals.length === 1) return;
  if (!(await undoSplit(table, level, fence, group, check))) return;
  await completeGroup(table, level, await groupAt(table, level, boundary), check);
}

async function merge(
  { catalog }: ModelStore,
  table: RankedTable,
  level: number,
  fence: Fence,
  outcome: Outcome,
): Promise<Outcome> {
  const { check } = catalog.snapshot;
  const higher =
    level === topLevel ? undefined : await table.kv.get(fenceKey(table, level + 1, fence.boundary));
  if (higher !== undefined && higher.versionstamp !== null) return "blocked";
  const before = await fenceBefore(table, level, fence.boundary);
  if (!(await isGroup(table, level, before.boundary))) return outcome;
  if (!(await beginMerge(table, level, before, fence, higher, check))) return outcome;
  await completeGroup(table, level, await groupAt(table, level, before.boundary), check);
  return "changed";
}

/**
 * Returns the group that contains an entry, with the fence of its first interval. Ends what was
 * begun with it before. Undefined if that fails.
 */
async function completedGroup(
  { catalog }: ModelStore,
  table: RankedTable,
  level: number,
  entry: Boundary,
): Promise<{ readonly fence: Fence; readonly group: IntervalGroup } | undefined> {
  for (let tries = 0; tries < 2; tries++) {
    let fence = await findFence(table, level, entry);
    while (!(await isGroup(table, level, fence.boundary)))
      fence = await fenceBefore(table, level, fence.boundary);
    const group = await groupAt(table, level, fence.boundary);
    if (group.intervals.length === 1) return { fence, group };
    const { check } = catalog.snapshot;
    if (await completeGroup(table, level, group, check)) continue;
    await giveUp(table, level, fence.boundary, check);
    return undefined;
  }
  return undefined;
}

async function isGroup(table: RankedTable, level: number, boundary: Boundary): Promise<boolean> {
  if (boundary.length === 0) return true;
  const state = await table.kv.get(stateKey(table, level, boundary));
  return state.versionstamp === null;
}

/**
 * Splits the intervals of ranked indexes, each of which was counted as one, from the beginning of
 * an index to its end.
 *
 * @returns false if the signal stopped it. The next call continues.
 */
export async function splitRanks(
  store: ModelStore,
  run: MigrationRun,
  counters: readonly CounterName[],
): Promise<boolean> {
  const names = new Set(counters.map(({ name }) => name));
  for (const counter of store.model.counters) {
    const table = names.has(counter.name) ? rankedTable(store, counter) : undefined;
    if (table !== undefined && !(await splitAll(store, run, table))) return false;
  }
  return true;
}

async function splitAll(
  store: ModelStore,
  run: MigrationRun,
  table: RankedTable,
): Promise<boolean> {
  for (const level of levels) {
    let failures = 0;
    for (let at: Boundary | undefined = first; at !== undefined; ) {
      await run.afterBatch(0);
      if (run.signal?.aborted) return false;
      const next: Boundary | undefined = await splitNext(store, table, level, at);
      const isSame = next !== undefined && isSameKey(next, at);
      failures = isSame ? failures + 1 : 0;
      // Groups that cannot be split now are left to the writers.
      if (failures === maxFailures) break;
      at = next;
    }
  }
  return true;
}

/** Splits a group, and returns the boundary at which to continue. Undefined at the end. */
async function splitNext(
  store: ModelStore,
  table: RankedTable,
  level: number,
  at: Boundary,
): Promise<Boundary | undefined> {
  try {
    const found = await completedGroup(store, table, level, at);
    if (found === undefined) return at;
    const parts = await partsOf(table, level, found.group);
    if (!parts.isTooLarge) return found.group.end;
    return (await split(store, table, level, found.fence, parts)) ?? at;
  } catch (error) {
    if (error instanceof TornRanksError) return at;
    throw error;
  }
}
