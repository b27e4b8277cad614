import { KeyPrefix, type KvKey, type KvListedEntry } from "@keywright/core";
import { whenReady } from "../../../promises/when-ready.js";
import type { ReadMeter } from "../../../state/context/read-meter.js";
import type { ReadView } from "../../../state/context/read-view.js";
import { readWithSchema } from "../../../state/rows/read-rows.js";
import {
  belongsToSegment,
  keyLengthOf,
  prefixOf,
  type QueryPlan,
  readsWholeKeys,
} from "../../plan/ranges/query-plan.js";
import { maxBatch } from "./entry-reader.js";

/** A range, and how far it was read. */
export interface WalkedRange {
  /** The position of its plan among those of all ranges. */
  readonly position: number;
  readonly plan: QueryPlan;
  /** The first parts of all keys of the range. */
  readonly prefix: KeyPrefix;
  /** How many entries were read so far. */
  read: number;
  /** True if the range has no further entries. */
  isWhole: boolean;
}

/** Entries of a range that were read together, in the order of their keys. */
interface WalkedEntries {
  readonly position: number;
  readonly entries: KvListedEntry[];
}

/** Seeking a range takes about as long as skipping this many entries. */
export const maxSkipped = 10;

/**
 * True if a read may also read, and skip, the entries between those of a query. They do not count
 * as reads of the query. A transaction must not depend on such entries, a limit of reads must not
 * count them, and a database on another machine must not send them.
 */
export function maySkipEntries(view: ReadView, meter: ReadMeter): boolean {
  const { isInTransaction, isOneState, capabilities } = view;
  const isLocal = capabilities.lastVersionstamp !== undefined && capabilities.hasPages;
  return isLocal && isOneState && !isInTransaction && meter.left === Number.POSITIVE_INFINITY;
}

/**
 * Returns the range of each plan if they can be walked: each plan has one range of the same index,
 * and the plans are in the order of their keys, or in the reverse order.
 */
export function rangesOf(plans: readonly QueryPlan[]): WalkedRange[] | undefined {
  const ranges: WalkedRange[] = [];
  for (const [position, plan] of plans.entries()) {
    const { index, segments, reverse } = plan;
    const [segment, ...others] = segments;
    if (segment === undefined || others.length > 0 || reverse) return undefined;
    const { start, end, type, isEmpty } = segment.interval;
    if (start !== undefined || end !== undefined || type !== undefined || isEmpty) return undefined;
    if (index !== plans[0]?.index || readsWholeKeys(plan)) return undefined;
    const prefix = new KeyPrefix(prefixOf(plan, segment), plan.model.keyOrder);
    ranges.push({ position, plan, prefix, read: 0, isWhole: false });
  }
  let direction = 0;
  for (let i = 1; i < ranges.length; i++) {
    const [before, range] = [ranges[i - 1]!, ranges[i]!];
    if (before.prefix.parts.length !== range.prefix.parts.length) return undefined;
    const difference = Math.sign(compare(before, range));
    if (difference === 0 || difference === -direction) return undefined;
    direction = difference;
  }
  return ranges;
}

function compare({ prefix }: WalkedRange, { prefix: other }: WalkedRange): number {
  return other.compare(prefix.bytes, 0, prefix.bytes.length);
}

/**
 * Reads the entries of ranges, those of many ranges in one read. What lies between the ranges is
 * skipped.
 */
export class RangeWalk {
  /** In the order of their keys. */
  readonly ranges: readonly WalkedRange[];
  readonly #view: ReadView;
  readonly #most: number;
  readonly #withValues: boolean;
  readonly #meter: ReadMeter;
  /** The position of the range whose entries are read next. */
  #next = 0;
  /** The last entry of this range that was read. */
  #after: KvKey | undefined;

  /**
   * @param ranges in the order of their keys or in the reverse order.
   * @param options the maximum number of entries of each range, and false if their values are not
   * used, but only their keys.
   */
  constructor(
    view: ReadView,
    ranges: readonly WalkedRange[],
    { most, withValues }: { readonly most: number; readonly withValues: boolean },
    meter: ReadMeter,
  ) {
    this.#view = view;
    this.ranges = ascending(ranges);
    this.#most = most;
    this.#withValues = withValues;
    this.#meter = meter;
  }

  get isEnded(): boolean {
    return this.#next === this.ranges.length;
  }

  /** Reads the next entries, at most 500. */
  async next(): Promise<readonly WalkedEntries[]> {
    const unread = this.ranges.slice(this.#next, this.#next + maxBatch);
    const prefixes = unread.map(({ prefix }) => prefix);
    const options = {
      limit: this.#most,
      most: maxBatch,
      after: this.#after,
      withValues: this.#withValues,
    };
    let lists: KvListedEntry[][] = [];
    // The entries may be rows or copies of rows, whose schema the catalog must determine.
    await readWithSchema(this.#view, () => {
      const { pages } = this.#view.kv;
      return whenReady(pages!.listEach(prefixes, options), (read) => {
        lists = read;
        return read.flat();
      });
    });
    return this.#distribute(unread, lists);
  }

  #distribute(
    unread: readonly WalkedRange[],
    lists: readonly (readonly KvListedEntry[])[],
  ): WalkedEntries[] {
    const found: WalkedEntries[] = [];
    let size = 0;
    for (const list of lists) size += list.length;
    const isCut = size >= maxBatch;
    for (const [i, list] of lists.entries()) {
      const range = unread[i]!;
      const { plan, position } = range;
      const segment = plan.segments[0]!;
      const own = list.slice(0, this.#most - range.read);
      const entries: KvListedEntry[] = [];
      for (const entry of own) if (belongsToSegment(plan, segment, entry)) entries.push(entry);
      if (entries.length > 0) found.push({ position, entries });
      range.read += own.length;
      this.#meter.add(own.length);
      const isRead = range.read === this.#most;
      if (isCut && i === lists.length - 1 && !isRead) {
        this.#after = list.at(-1)!.key;
        this.#next += i;
        return found;
      }
      range.isWhole = !isRead;
    }
    this.#after = undefined;
    this.#next += lists.length;
    return found;
  }
}

/**
 * Counts the entries of ranges, in one read for each 500 of them. The ranges are in the order of
 * their keys or in the reverse order.
 */
export async function countRanges(
  view: ReadView,
  ranges: readonly WalkedRange[],
  meter: ReadMeter,
): Promise<number[]> {
  const inOrder = ascending(ranges);
  const counts = ranges.map(() => 0);
  for (let from = 0; from < inOrder.length; from += maxBatch) {
    const some = inOrder.slice(from, from + maxBatch);
    const prefixes = some.map(({ prefix }) => prefix);
    const read = await view.kv.pages!.countEach(prefixes, keyLengthOf(some[0]!.plan));
    for (const [i, count] of read.entries()) {
      counts[some[i]!.position] = count;
      meter.add(count);
    }
  }
  return counts;
}

function ascending(ranges: readonly WalkedRange[]): readonly WalkedRange[] {
  const [first, second] = ranges;
  const isReverse = first !== undefined && second !== undefined && compare(first, second) > 0;
  return isReverse ? ranges.toReversed() : ranges;
}
