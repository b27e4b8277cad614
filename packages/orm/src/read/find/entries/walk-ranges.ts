import { KeyPrefix, type KvKey, type KvListedEntry } from "@keywright/core";
import { keyAfter, partAfter } from "../../../model/keys/key-parts.js";
import { awaitAll } from "../../../state/context/await-all.js";
import type { ReadMeter } from "../../../state/context/read-meter.js";
import type { ReadView } from "../../../state/context/read-view.js";
import { readPage } from "../../../state/rows/read-page.js";
import { readWithSchema } from "../../../state/rows/read-rows.js";
import {
  belongsToSegment,
  prefixOf,
  type QueryPlan,
  selectorOf,
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
  count: number;
  /** True if the range has no further entries. */
  isWhole: boolean;
}

/** Entries of a range that were read together, in the order of their keys. */
interface WalkedEntries {
  readonly position: number;
  readonly entries: KvListedEntry[];
}

/** To begin to read a range takes as long as to skip about this many entries. */
export const maxSkipped = 10;

/** The maximum number of ranges that are read at a time. */
const maxConcurrent = 50;

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
  for (const [position, plan] of plans.entries()) {
    const { index, segments, reverse } = plan;
    const [segment, ...others] = segments;
    if (segment === undefined || others.length > 0 || reverse) return undefined;
    const { start, end, isEmpty } = segment.interval;
    if (start !== undefined || end !== undefined || isEmpty) return undefined;
    if (index !== plans[0]?.index) return undefined;
    const prefix = new KeyPrefix(prefixOf(plan, segment), plan.model.keyOrder);
    ranges.push({ position, plan, prefix, count: 0, isWhole: false });
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

/** A range of which entries are missing, and the last key of it that was read. */
interface UnreadRange {
  readonly range: WalkedRange;
  readonly after: KvKey | undefined;
}

/**
 * Reads entries of ranges in one pass over all of them, with few lists. Skips the entries between
 * the ranges. If these are many, each of the remaining ranges is read by a list of its own.
 */
export class RangeWalk {
  /** In the order of their keys. */
  readonly ranges: readonly WalkedRange[];
  readonly #view: ReadView;
  readonly #most: number;
  readonly #withValues: boolean;
  readonly #meter: ReadMeter;
  readonly #end: KvKey | undefined;
  /** The key where the next list of the pass begins. Undefined if the pass has ended. */
  #start: KvKey | undefined;
  /** The maximum number of entries of the next list of the pass. */
  #limit: number;
  /** The position of the range whose entries are read next. */
  #next = 0;
  #skipped = 0;
  /** The ranges that are read by lists of their own. */
  #unread: UnreadRange[] = [];

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
    const [first, second] = ranges;
    const isReverse = first !== undefined && second !== undefined && compare(first, second) > 0;
    this.#view = view;
    this.ranges = isReverse ? ranges.toReversed() : ranges;
    this.#most = most;
    this.#withValues = withValues;
    this.#meter = meter;
    this.#end = endOf(this.ranges.at(-1)?.prefix.parts ?? []);
    this.#start = this.#end && this.ranges[0]?.prefix.parts;
    this.#limit = ranges.length === 1 ? most : Math.max(maxSkipped, ranges.length * 8);
  }

  get isEnded(): boolean {
    return this.#start === undefined && this.#unread.length === 0;
  }

  /** Reads one list of the pass, or a list for each of some ranges. Returns their entries. */
  async next(): Promise<readonly WalkedEntries[]> {
    if (this.#end === undefined || this.isEnded) return [];
    if (this.#start === undefined) return await this.#readEach();
    const size = Math.min(this.#limit, maxBatch);
    const selector = { start: this.#start, end: this.#end };
    const options = { limit: size, reverse: false, withValues: this.#withValues };
    // The entries may be rows or copies of rows, whose schema the catalog must determine.
    const list = await readWithSchema(this.#view, () => readPage(this.#view, selector, options));
    const skippedBefore = this.#skipped;
    const found = this.#distribute(list, list.length < size);
    this.#meter.add(list.length - (this.#skipped - skippedBefore));
    this.#limit *= 4;
    return found;
  }

  #distribute(list: readonly KvListedEntry[], isEnd: boolean): WalkedEntries[] {
    const found: WalkedEntries[] = [];
    let isCut = false;
    for (const entry of list) {
      let range = this.ranges[this.#next];
      let place = range === undefined ? 0 : entry.compareStart(range.prefix);
      while (range !== undefined && place > 0) {
        range.isWhole = !isCut;
        isCut = false;
        range = this.ranges[++this.#next];
        if (range !== undefined) place = entry.compareStart(range.prefix);
      }
      if (range === undefined || place !== 0) this.#skipped++;
      else if (range.count === this.#most) {
        isCut = true;
        this.#skipped++;
      } else if (belongsToSegment(range.plan, range.plan.segments[0]!, entry)) {
        const { position } = range;
        if (found.at(-1)?.position !== position) found.push({ position, entries: [] });
        found.at(-1)!.entries.push(entry);
        range.count++;
      }
    }
    if (isEnd) {
      for (const range of this.ranges.slice(this.#next)) {
        range.isWhole = !isCut;
        isCut = false;
      }
    }
    this.#start = isEnd ? undefined : this.#startAfter(list.at(-1)!);
    return found;
  }

  #startAfter(last: KvListedEntry): KvKey | undefined {
    const range = this.ranges[this.#next];
    if (range === undefined) return undefined;
    const isWithin = last.compareStart(range.prefix) === 0;
    // No more entries of a range are read than are wanted.
    const isRead = isWithin && range.count === this.#most;
    if (isRead) this.#next++;
    if (this.#skipped <= maxSkipped * (this.#next + 1)) {
      if (isRead) return this.ranges[this.#next]?.prefix.parts;
      return isWithin ? keyAfter(last.key) : range.prefix.parts;
    }
    this.#unread = this.ranges.slice(this.#next).map((unread) => ({
      range: unread,
      after: isWithin && unread === range ? last.key : undefined,
    }));
    return undefined;
  }

  /** Reads each of some ranges by a list of its own, at the same time. */
  async #readEach(): Promise<WalkedEntries[]> {
    const read = this.#unread.slice(0, maxConcurrent);
    let lists: KvListedEntry[][] = [];
    await readWithSchema(this.#view, async () => {
      lists = await awaitAll(read.map((unread) => this.#list(unread)));
      return lists.flat();
    });
    const others = this.#unread.slice(maxConcurrent);
    const found: WalkedEntries[] = [];
    const unread: UnreadRange[] = [];
    for (const [i, { range }] of read.entries()) {
      const list = lists[i]!;
      this.#meter.add(list.length);
      const isEnd = list.length < this.#limitOf(range);
      const entries = list.filter((entry) =>
        belongsToSegment(range.plan, range.plan.segments[0]!, entry),
      );
      if (entries.length > 0) found.push({ position: range.position, entries });
      range.count += entries.length;
      range.isWhole = isEnd;
      if (!isEnd && range.count < this.#most) unread.push({ range, after: list.at(-1)!.key });
    }
    this.#unread = [...unread, ...others];
    return found;
  }

  async #list({ range, after }: UnreadRange): Promise<KvListedEntry[]> {
    const selector = selectorOf(range.plan, range.plan.segments[0]!, after);
    if (selector === undefined) return [];
    const limit = this.#limitOf(range);
    return await readPage(this.#view, selector, {
      limit,
      reverse: false,
      withValues: this.#withValues,
    });
  }

  /** The maximum number of entries of the next list of a range. */
  #limitOf(range: WalkedRange): number {
    return Math.min(this.#most - range.count, maxBatch);
  }
}

/** Returns the key after a range. Undefined if the last part of its prefix has no next one. */
function endOf(prefix: KvKey): KvKey | undefined {
  const bound = prefix.length === 0 ? undefined : partAfter(prefix.at(-1)!);
  return bound === undefined ? undefined : [...prefix.slice(0, -1), bound];
}
