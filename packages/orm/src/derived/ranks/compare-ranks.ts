import { compareKeys } from "@keywright/core";
import type { Counter } from "../../model/aggregates/counter.js";
import { addAmounts, type RankedAmounts } from "../../model/aggregates/ranked-amounts.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import type { ModelStore } from "../../state/context/model-store.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import type { Suspect } from "../verify/verifier.js";
import { whileUnchanged } from "../verify/while-unchanged.js";
import { type Boundary, first, topLevel } from "./rank-keys.js";
import { type RankedTable, rankedTable } from "./ranked-table.js";
import { amountsOfEntries, listEntries } from "./read-entries.js";
import {
  groupAt,
  type IntervalGroup,
  listGroups,
  TornRanksError,
  wholeIndex,
} from "./read-intervals.js";

/** The groups of a level above the first, and what they should have. */
interface Level {
  readonly level: number;
  readonly groups: AsyncGenerator<IntervalGroup>;
  current: IntervalGroup | undefined;
  amounts: RankedAmounts;
}

const uncounted = () => undefined;

/**
 * Compares the intervals of a ranked index with its entries, in one scan for all levels, in bounded
 * memory, while others read and write. A group that looks wrong is read again while it stays the
 * same.
 *
 * @param wrong returns the finding for a group that begins at a boundary.
 * @returns `"stopped"` if the signal stopped it.
 */
export async function compareRanks<Found>(
  store: ModelStore,
  run: MigrationRun,
  counter: Counter,
  wrong: (boundary: Boundary) => Found,
): Promise<readonly Suspect<Found | "unchecked">[] | "stopped"> {
  const table = rankedTable(store, counter);
  const isDropped = store.catalog.snapshot.counterState(counter.name) !== "readable";
  if (table === undefined || isDropped) return [];
  const suspects: Suspect<Found | "unchecked">[] = [];
  const compare = (level: number, group: IntervalGroup, amounts: RankedAmounts) => {
    if (isSameAmounts(group.amounts, amounts)) return;
    const boundary = beginOf(group);
    suspects.push(async () => {
      const isRight = await isGroupRight(table, level, boundary);
      if (isRight === undefined) return "unchecked";
      return isRight ? undefined : wrong(boundary);
    });
  };
  const levels: Level[] = [];
  for (let level = 2; level <= topLevel; level++) {
    const groups = groupsOf(table, level);
    levels.push({ level, groups, current: await nextOf(groups), amounts: new Map() });
  }
  for (const groups = groupsOf(table, 1); ; ) {
    if (run.signal?.aborted) return "stopped";
    const group = await nextOf(groups);
    if (group === undefined) return suspects;
    const amounts = await amountsIn(table, group);
    compare(1, group, amounts);
    for (const above of levels) {
      addAmounts(above.amounts, amounts);
      const { current } = above;
      if (current === undefined || !endsBefore(table, current, group)) continue;
      compare(above.level, current, above.amounts);
      above.amounts = new Map();
      above.current = await nextOf(above.groups);
    }
    await run.afterBatch(0);
  }
}

/** Undefined if others change the group all the time. */
async function isGroupRight(
  table: RankedTable,
  level: number,
  boundary: Boundary,
): Promise<boolean | undefined> {
  try {
    const compared = await whileUnchanged({
      read: () => groupAt(table, level, boundary),
      isSame: isSameGroup,
      compute: (group) => amountsIn(table, group),
    });
    return compared && isSameAmounts(compared.state.amounts, compared.value);
  } catch (error) {
    if (!(error instanceof TornRanksError)) throw error;
    // The group was merged with another one, which the next verification compares.
    return undefined;
  }
}

function groupsOf(table: RankedTable, level: number): AsyncGenerator<IntervalGroup> {
  return listGroups(table, level, first, wholeIndex, uncounted);
}

/** Returns the next group. Undefined at the end, or if groups were merged while they were read. */
async function nextOf(groups: AsyncGenerator<IntervalGroup>): Promise<IntervalGroup | undefined> {
  try {
    const next = await groups.next();
    return next.done === true ? undefined : next.value;
  } catch (error) {
    if (error instanceof TornRanksError) return undefined;
    throw error;
  }
}

/** Returns the amounts of the entries from the beginning of a group to its end. */
async function amountsIn(table: RankedTable, group: IntervalGroup): Promise<RankedAmounts> {
  const total: RankedAmounts = new Map();
  const range = { prefix: [], end: group.end };
  for await (const entries of listEntries(table, beginOf(group), range, uncounted)) {
    addAmounts(total, await amountsOfEntries(table, entries, uncounted));
  }
  return total;
}

function beginOf({ intervals }: IntervalGroup): Boundary {
  return intervals[0]!.boundary;
}

/** True if a group of a higher level ends where a group of level 1 ends, or before. */
function endsBefore({ model }: RankedTable, { end }: IntervalGroup, group: IntervalGroup): boolean {
  if (end === undefined) return group.end === undefined;
  return group.end === undefined || compareKeys(group.end, end, model.keyOrder) >= 0;
}

function isSameAmounts(a: RankedAmounts, b: RankedAmounts): boolean {
  const slots = new Set([...a.keys(), ...b.keys()]);
  return [...slots].every((slot) => {
    return BigInt.asUintN(64, a.get(slot) ?? 0n) === BigInt.asUintN(64, b.get(slot) ?? 0n);
  });
}

function isSameGroup(a: IntervalGroup, b: IntervalGroup): boolean {
  const entriesOf = ({ intervals }: IntervalGroup) => intervals.flatMap(({ entries }) => entries);
  const [before, after] = [entriesOf(a), entriesOf(b)];
  return (
    before.length === after.length &&
    before.every(({ key, versionstamp }, i) => {
      return versionstamp === after[i]!.versionstamp && isSameKey(key, after[i]!.key);
    }) &&
    (a.end === undefined || b.end === undefined ? a.end === b.end : isSameKey(a.end, b.end))
  );
}
