import { restOfRange } from "../../keys/key-range.js";
import {
  type Engine,
  type EntryVisitor,
  isRangeEnd,
  type KeyList,
  type KeyVisitor,
  type MaybePromise,
  type RangeRead,
  type ReadView,
} from "../engine.js";

/** The maximum number of entries that are read at once, as by `list`. */
const batchSize = 500;

type Reads = Pick<ReadView, "getMany" | "getRange" | "visitMany" | "visitRange"> &
  Pick<Engine, "openView">;

/** Visits a range as {@link ReadView.visitRange} does, on any engine. */
export function visitRange(reads: Reads, read: RangeRead, visit: EntryVisitor): MaybePromise<void> {
  return reads.visitRange === undefined
    ? visitBatches(reads, read, visit)
    : reads.visitRange(read, visit);
}

/** Visits the entries of keys as {@link ReadView.visitMany} does, on any engine. */
export function visitMany(reads: Reads, keys: KeyList, visit: KeyVisitor): MaybePromise<void> {
  return reads.visitMany === undefined
    ? visitFound(reads, keys, visit)
    : reads.visitMany(keys, visit);
}

async function visitBatches(reads: Reads, read: RangeRead, visit: EntryVisitor): Promise<void> {
  const { reverse } = read;
  let { range, limit } = read;
  while (limit > 0) {
    const wanted = Math.min(limit, batchSize);
    const entries = await reads.getRange({ range, limit: wanted, reverse });
    const isEnd = entries.length === limit || isRangeEnd(entries, wanted);
    // Another batch could have a later state than this one.
    if (!isEnd && reads.openView !== undefined)
      return await visitInView(await reads.openView(), read, visit);
    for (const entry of entries) visit(entry);
    if (isEnd) return;
    limit -= entries.length;
    range = restOfRange(range, entries.at(-1)!.key, reverse);
  }
}

async function visitInView(view: ReadView, read: RangeRead, visit: EntryVisitor): Promise<void> {
  try {
    await visitRange(view, read, visit);
  } finally {
    view.close();
  }
}

async function visitFound(reads: Reads, keys: KeyList, visit: KeyVisitor): Promise<void> {
  const entries = await reads.getMany(keys.starts.map((_, position) => keyAt(keys, position)));
  for (const [position, entry] of entries.entries())
    if (entry !== undefined) visit(position, entry);
}

/** Returns a key of a list, as a view of its bytes. */
export function keyAt({ bytes, starts, ends }: KeyList, position: number): Uint8Array {
  return bytes.subarray(starts[position]!, ends[position]!);
}
