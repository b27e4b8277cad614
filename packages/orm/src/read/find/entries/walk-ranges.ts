import { compareKeys, type KvEntry, type KvKey } from "@keywright/core";
import { isSamePart, keyAfter, partAfter } from "../../../model/keys/key-parts.js";
import type { ReadMeter } from "../../../state/context/read-meter.js";
import type { ReadView } from "../../../state/context/read-view.js";
import { readWithSchema } from "../../../state/rows/read-rows.js";
import { belongsToSegment, prefixOf, type QueryPlan } from "../../plan/ranges/query-plan.js";
import { listEntries, maxBatch } from "./entry-reader.js";

/** The entries of a range that were read so far, in the order of their keys. */
export interface WalkedRange {
  readonly plan: QueryPlan;
  /** The first parts of all keys of the range. */
  readonly prefix: KvKey;
  readonly entries: KvEntry<unknown>[];
  /** True if the range has no further entries. */
  isWhole: boolean;
}

/** To begin to read a range takes as long as to skip about this many entries. */
export const maxSkipped = 10;

/**
 * True if entries may be read that lie between those of a query and are skipped. They are not
 * counted as reads of the query. A transaction must not depend on them, a limit of reads must not
 * be used up by them, and a database on another machine must not send them.
 */
export function maySkipEntries(view: ReadView, meter: ReadMeter): boolean {
  const { isInTransaction, isOneState, capabilities } = view;
  const isLocal = capabilities.lastVersionstamp !== undefined;
  return isLocal && isOneState && !isInTransaction && meter.left === Number.POSITIVE_INFINITY;
}

/**
 * Returns the range of each plan if they can be walked: each plan has one range of the same index,
 * and the plans are in the order of their keys, or in the reverse order.
 */
export function rangesOf(plans: readonly QueryPlan[]): WalkedRange[] | undefined {
  const ranges: WalkedRange[] = [];
  for (const plan of plans) {
    const { index, segments, reverse } = plan;
    const [segment, ...others] = segments;
    if (segment === undefined || others.length > 0 || reverse) return undefined;
    const { start, end, isEmpty } = segment.interval;
    if (start !== undefined || end !== undefined || isEmpty) return undefined;
    if (index !== plans[0]?.index) return undefined;
    ranges.push({ plan, prefix: prefixOf(plan, segment), entries: [], isWhole: false });
  }
  let direction = 0;
  for (let i = 1; i < ranges.length; i++) {
    const [before, range] = [ranges[i - 1]!, ranges[i]!];
    if (before.prefix.length !== range.prefix.length) return undefined;
    const difference = Math.sign(compare(before, range));
    if (difference === 0 || difference === -direction) return undefined;
    direction = difference;
  }
  return ranges;
}

function compare(a: WalkedRange, b: WalkedRange): number {
  return compareKeys(a.prefix, b.prefix, a.plan.model.keyOrder);
}

/**
 * Reads entries of ranges in one pass over all of them, with few lists. Skips the entries between
 * the ranges. Ends early if these are many: the ranges from that place on are then not whole.
 *
 * @param ranges in the order of their keys or in the reverse order.
 * @param count the maximum number of entries of each range.
 */
export async function walkRanges(
  view: ReadView,
  ranges: readonly WalkedRange[],
  count: number,
  meter: ReadMeter,
): Promise<void> {
  const [first, second] = ranges;
  const isReverse = first !== undefined && second !== undefined && compare(first, second) > 0;
  const walk = new RangeWalk(isReverse ? ranges.toReversed() : ranges, count);
  const end = walk.end;
  let limit = ranges.length === 1 ? count : Math.max(maxSkipped, ranges.length * 8);
  for (let start = walk.start; start !== undefined && end !== undefined; start = walk.start) {
    const size = Math.min(limit, maxBatch);
    const selector = { start, end };
    // The entries may be rows or copies of rows, whose schema the catalog must determine.
    const list = await readWithSchema(view, () => listEntries(view, selector, false, size));
    meter.add(walk.take(list, list.length < size));
    limit *= 4;
  }
}

/** Distributes entries among ranges. */
class RangeWalk {
  readonly #ranges: readonly WalkedRange[];
  readonly #count: number;
  /** The position of the range whose entries are read next. */
  #next = 0;
  #skipped = 0;
  /** The key where the next list begins. Undefined if the walk has ended. */
  start: KvKey | undefined;

  constructor(ranges: readonly WalkedRange[], count: number) {
    this.#ranges = ranges;
    this.#count = count;
    this.start = ranges[0]?.prefix;
  }

  /** The key after the last range. Undefined if its last part has no next one. */
  get end(): KvKey | undefined {
    const last = this.#ranges.at(-1)?.prefix ?? [];
    const bound = last.length === 0 ? undefined : partAfter(last.at(-1)!);
    return bound === undefined ? undefined : [...last.slice(0, -1), bound];
  }

  /** Returns the number of entries that belong to the ranges. */
  take(list: readonly KvEntry<unknown>[], isEnd: boolean): number {
    const skippedBefore = this.#skipped;
    let isCut = false;
    for (const entry of list) {
      let range = this.#ranges[this.#next];
      while (range !== undefined && isPast(range, entry.key)) {
        range.isWhole = !isCut;
        isCut = false;
        range = this.#ranges[++this.#next];
      }
      if (range === undefined || !startsWith(entry.key, range.prefix)) this.#skipped++;
      else if (range.entries.length === this.#count) {
        isCut = true;
        this.#skipped++;
      } else if (belongsToSegment(range.plan, range.plan.segments[0]!, entry.key))
        range.entries.push(entry);
    }
    if (isEnd) {
      for (const range of this.#ranges.slice(this.#next)) {
        range.isWhole = !isCut;
        isCut = false;
      }
    }
    this.start = isEnd ? undefined : this.#startAfter(list.at(-1)!.key);
    return list.length - (this.#skipped - skippedBefore);
  }

  #startAfter(last: KvKey): KvKey | undefined {
    const range = this.#ranges[this.#next];
    if (range === undefined || this.#skipped > maxSkipped * (this.#next + 1)) return undefined;
    if (!startsWith(last, range.prefix)) return range.prefix;
    // No more entries of a range are read than are wanted.
    return range.entries.length === this.#count
      ? this.#ranges[++this.#next]?.prefix
      : keyAfter(last);
  }
}

/** True if all keys of a range come before a key. */
function isPast({ prefix, plan }: WalkedRange, key: KvKey): boolean {
  return !startsWith(key, prefix) && compareKeys(prefix, key, plan.model.keyOrder) < 0;
}

function startsWith(key: KvKey, prefix: KvKey): boolean {
  // The last part differs first.
  for (let i = prefix.length - 1; i >= 0; i--) if (!isSamePart(key[i], prefix[i])) return false;
  return true;
}
