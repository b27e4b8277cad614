import { compareBytes } from "../../bytes/compare-bytes.js";
import { type KeyRange, keyAfter, restOfRange } from "../../keys/key-range.js";
import { awaitAll } from "../../values/await-all.js";
import {
  type Engine,
  isRangeEnd,
  type MaybePromise,
  type RangesRead,
  type RangesVisitor,
  type ReadView,
  type StoredEntry,
  type VisitedEntry,
} from "../engine.js";
import { visitRange } from "./visit-entries.js";

type Reads = Pick<ReadView, "getMany" | "getRange" | "visitMany" | "visitRange" | "visitRanges"> &
  Pick<Engine, "openView">;

/** Seeking a range takes about as long as skipping this many entries. */
const maxSkipped = 10;

/** The maximum number of entries that are read at once. */
const batchSize = 500;

/** The maximum number of ranges that are read at the same time. */
const maxConcurrent = 50;

/** Visits ranges as {@link ReadView.visitRanges} does, on any engine. */
export function visitRanges(
  reads: Reads,
  read: RangesRead,
  visit: RangesVisitor,
): MaybePromise<void> {
  if (read.ranges.length === 0) return undefined;
  return reads.visitRanges === undefined
    ? visitInOneState(reads, read, visit)
    : reads.visitRanges(read, visit);
}

/**
 * Visits ranges for an engine that reads synchronously, in one pass over their keys. After more
 * than {@link maxSkipped} entries that are in no range, it jumps to the next range.
 *
 * @param visitUntil visits the entries of a range until the function returns false.
 */
export function visitRangesAtOnce<Entry extends VisitedEntry>(
  visitUntil: (range: KeyRange, visit: (entry: Entry) => boolean) => void,
  read: RangesRead,
  visit: RangesVisitor,
): void {
  const walk = new Walk(read);
  const { end } = walk;
  for (let start = walk.next(); start !== undefined; start = walk.next()) {
    let skipped = 0;
    let isEnd = true;
    visitUntil({ start, end }, (entry) => {
      if (walk.accepts(entry.key)) {
        skipped = 0;
        visit(walk.position, entry);
      } else if (++skipped > maxSkipped) {
        isEnd = false;
        return false;
      }
      return !walk.isEnded;
    });
    if (isEnd) return;
  }
}

async function visitInOneState(
  reads: Reads,
  read: RangesRead,
  visit: RangesVisitor,
): Promise<void> {
  if (reads.openView === undefined) return await visitInPasses(reads, read, visit);
  const view = await reads.openView();
  try {
    if (view.visitRanges !== undefined) await view.visitRanges(read, visit);
    else await visitInPasses(view, read, visit);
  } finally {
    view.close();
  }
}

/**
 * Visits ranges with few reads. It reads on from the first range to the last one, with the entries
 * between the ranges. If there are too many of these, it reads each remaining range alone, many at
 * a time.
 */
async function visitInPasses(reads: Reads, read: RangesRead, visit: RangesVisitor): Promise<void> {
  const walk = new Walk(read);
  const { ranges, limit } = read;
  const { end } = walk;
  let size = ranges.length === 1 ? limit : Math.max(maxSkipped, ranges.length * 8);
  let skipped = 0;
  for (let start = walk.next(); start !== undefined; start = walk.next()) {
    if (skipped > maxSkipped * (walk.position + 1)) return await visitEach(reads, walk, visit);
    const wanted = Math.min(size, batchSize);
    let found = 0;
    let last: Uint8Array | undefined;
    await visitRange(reads, { range: { start, end }, limit: wanted, reverse: false }, (entry) => {
      if (++found === wanted) last = entry.key.slice();
      if (walk.accepts(entry.key)) visit(walk.position, entry);
      else skipped++;
    });
    if (last === undefined) return;
    walk.continueAfter(last);
    size *= 4;
  }
}

/** Visits the rest of the ranges with one read for each. */
async function visitEach(reads: Reads, walk: Walk, visit: RangesVisitor): Promise<void> {
  const { ranges, limit } = walk.read;
  for (let start = walk.next(); start !== undefined; start = walk.next()) {
    const first = walk.position;
    const size = Math.min(limit, walk.left, batchSize);
    const listOf = async (range: KeyRange): Promise<StoredEntry[]> =>
      await reads.getRange({ range, limit: size, reverse: false });
    const unread = ranges.slice(first, first + maxConcurrent);
    unread[0] = { start, end: unread[0]!.end };
    const lists = await awaitAll(unread.map(listOf));
    for (const [i, list] of lists.entries()) {
      for (let entries = list; ; ) {
        for (const entry of entries) if (walk.accepts(entry.key)) visit(walk.position, entry);
        if (walk.isEnded) return;
        if (walk.count === limit || isRangeEnd(entries, size)) break;
        entries = await listOf(restOfRange(unread[i]!, entries.at(-1)!.key, false));
      }
      walk.passTo(first + i + 1);
    }
  }
}

/** How far ranges were visited. */
class Walk {
  readonly read: RangesRead;
  /** The end of the last range. */
  readonly end: Uint8Array;
  /** The position of the range of the last entry, or of one after it. */
  position = 0;
  /** How many entries of this range were visited. */
  count = 0;
  /** How many more entries may be visited. */
  left: number;
  #start: Uint8Array | undefined;

  constructor(read: RangesRead) {
    this.read = read;
    this.end = read.ranges.at(-1)!.end;
    this.left = read.most;
  }

  /** Returns the key from which on entries may belong to a range. Undefined if there are none. */
  next(): Uint8Array | undefined {
    const { ranges, limit } = this.read;
    if (this.count === limit) this.passTo(this.position + 1);
    return this.isEnded ? undefined : (this.#start ?? ranges[this.position]!.start);
  }

  get isEnded(): boolean {
    const { ranges, limit } = this.read;
    const isLast = this.position === ranges.length - 1;
    return this.left === 0 || this.position === ranges.length || (isLast && this.count === limit);
  }

  /** True if the entry of a key is to be visited. The keys must be in order. */
  accepts(key: Uint8Array): boolean {
    const { ranges, limit } = this.read;
    let range = ranges[this.position];
    while (range !== undefined && compareBytes(key, range.end) >= 0) {
      this.passTo(this.position + 1);
      range = ranges[this.position];
    }
    if (range === undefined || this.left === 0 || this.count === limit) return false;
    // Keys after one of the range are not before its start.
    if (this.count === 0 && compareBytes(key, range.start) < 0) return false;
    this.count++;
    this.left--;
    return true;
  }

  /** Says that all entries up to a key were read. */
  continueAfter(last: Uint8Array): void {
    const range = this.read.ranges[this.position];
    const isWithin = range !== undefined && compareBytes(last, range.start) >= 0;
    this.#start = isWithin ? keyAfter(last) : undefined;
  }

  passTo(position: number): void {
    this.position = position;
    this.count = 0;
    this.#start = undefined;
  }
}
