import { compareBytes } from "../format/compare-bytes.js";
import type { SegmentDocs } from "./new-segment.js";

/** The documents of a segment that is merged with others. */
export interface MergedSource {
  readonly id: number;
  readonly keys: readonly Uint8Array[];
  readonly lengths: Int32Array;
  readonly expireAt: Float64Array | undefined;
  readonly gone: readonly number[];
}

/** The new numbers of the documents of each source. -1 for one that is left out. */
type NewNumbers = readonly Int32Array[];

/** The documents of several segments as one. */
export interface MergedDocs {
  readonly docs: SegmentDocs;
  readonly numbers: NewNumbers;
}

/**
 * Joins the documents of segments in the order of their keys, without those that are gone or have
 * expired. If two segments have the same key, because a row was changed without the ORM, only the
 * newer one stays.
 */
export function joinedDocs(sources: readonly MergedSource[], now: number): MergedDocs {
  const numbers = sources.map(({ keys, gone, expireAt }) => {
    // Documents that stay have 0 until they get their number.
    const ofSource = new Int32Array(keys.length);
    for (const doc of gone) ofSource[doc] = -1;
    for (const [doc, time] of expireAt?.entries() ?? []) {
      if (time > 0 && time <= now) ofSource[doc] = -1;
    }
    return ofSource;
  });
  const order = sources.map((_, i) => i).sort((a, b) => sources[a]!.id - sources[b]!.id);
  const at = sources.map(() => 0);
  const keys: Uint8Array[] = [];
  const lengths: number[] = [];
  const times: number[] = [];
  for (;;) {
    let chosen = -1;
    let first: Uint8Array | undefined;
    /** The first key of the other sources. */
    let limit: Uint8Array | undefined;
    for (const i of order) {
      const { keys: own } = sources[i]!;
      while (at[i]! < own.length && numbers[i]![at[i]!] === -1) at[i]!++;
      const key = own[at[i]!];
      if (key === undefined) continue;
      const difference = first === undefined ? -1 : compareBytes(key, first);
      if (difference === 0) numbers[chosen]![at[chosen]!++] = -1;
      const other = difference <= 0 ? first : key;
      if (other !== undefined && (limit === undefined || compareBytes(other, limit) < 0))
        limit = other;
      if (difference > 0) continue;
      chosen = i;
      first = key;
    }
    if (first === undefined) break;
    const source = sources[chosen]!;
    // Segments often have keys that follow one another.
    do {
      const doc = at[chosen]!++;
      if (numbers[chosen]![doc] === -1) continue;
      numbers[chosen]![doc] = keys.length;
      keys.push(source.keys[doc]!);
      lengths.push(source.lengths[doc]!);
      times.push(source.expireAt?.[doc] ?? 0);
    } while (isBefore(source.keys[at[chosen]!], limit));
  }
  const docs = { keys, lengths: Int32Array.from(lengths), expireAt: Float64Array.from(times) };
  return { docs, numbers };
}

function isBefore(key: Uint8Array | undefined, limit: Uint8Array | undefined): boolean {
  return key !== undefined && (limit === undefined || compareBytes(key, limit) < 0);
}

/**
 * Returns the numbers that documents got when the keys of the new segment were written.
 *
 * @param keys the keys of the new segment.
 */
export function numbersIn(
  keys: readonly Uint8Array[],
  sources: readonly Pick<MergedSource, "id" | "keys">[],
): NewNumbers {
  const numbers = sources.map(({ keys: own }) => new Int32Array(own.length).fill(-1));
  const isTaken = new Uint8Array(keys.length);
  const newestFirst = sources.map((_, i) => i).sort((a, b) => sources[b]!.id - sources[a]!.id);
  for (const i of newestFirst) {
    let number = 0;
    for (const [doc, key] of sources[i]!.keys.entries()) {
      while (number < keys.length && compareBytes(keys[number]!, key) < 0) number++;
      if (number === keys.length) break;
      if (isTaken[number] === 1 || compareBytes(keys[number]!, key) !== 0) continue;
      isTaken[number] = 1;
      numbers[i]![doc] = number;
    }
  }
  return numbers;
}
