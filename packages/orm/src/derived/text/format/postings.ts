import type { ByteReader } from "./byte-reader.js";
import type { ByteWriter } from "./byte-writer.js";

/** The distance between the places of two fields. A field has fewer words than this. */
export const fieldSpan = 0x10_00_00;

/**
 * The documents of a segment that contain a word, in ascending order. The place of a word in a
 * document is `field * fieldSpan + position`. The places of all documents follow one another.
 */
export interface Postings {
  readonly docs: Int32Array;
  /** The places of document `i` are those from `starts[i]` to `starts[i + 1]`. */
  readonly starts: Int32Array;
  readonly places: Int32Array;
}

/** How often a word is in each field of each document: `counts[i * fields + field]`. */
export interface CountedPostings {
  readonly docs: Int32Array;
  readonly counts: Int32Array;
}

/**
 * Writes how often a word is in each field of one document. One number if it is in one field, as
 * most words are; otherwise the set of fields and then one number for each.
 */
export function writeCounts(writer: ByteWriter, fields: number, places: PlacesOf): void {
  let mask = 0;
  const { all, from, to } = places;
  for (let i = from; i < to; i++) mask |= 1 << fieldOf(all[i]!);
  const first = fieldOf(all[from]!);
  if (mask === 1 << first) {
    writer.varint(2 * ((to - from - 1) * fields + first));
    return;
  }
  writer.varint(2 * (mask >>> 0) + 1);
  for (let i = from; i < to; ) {
    const field = fieldOf(all[i]!);
    const start = i;
    while (i < to && fieldOf(all[i]!) === field) i++;
    writer.varint(i - start);
  }
}

/** Places of one document within an array. */
export interface PlacesOf {
  readonly all: ArrayLike<number>;
  readonly from: number;
  readonly to: number;
}

/** Writes the positions of one document, each field from its beginning. */
export function writePlaces(writer: ByteWriter, { all, from, to }: PlacesOf): void {
  let field = -1;
  let before = 0;
  for (let i = from; i < to; i++) {
    const place = all[i]!;
    if (fieldOf(place) !== field) {
      field = fieldOf(place);
      before = field * fieldSpan;
    }
    writer.varint(place - before);
    before = place;
  }
}

/**
 * Reads what {@link writeCounts} has written.
 *
 * @param counts gets the count of each field from `at` on.
 * @returns the sum of the counts.
 */
export function readCounts(
  reader: ByteReader,
  fields: number,
  counts: Int32Array,
  at: number,
): number {
  const head = reader.varint();
  if (head % 2 === 0) {
    const single = head / 2;
    const count = Math.floor(single / fields) + 1;
    counts[at + (single % fields)] = count;
    return count;
  }
  let sum = 0;
  let mask = (head - 1) / 2;
  for (let field = 0; mask > 0; field++, mask = Math.floor(mask / 2)) {
    if (mask % 2 === 0) continue;
    const count = reader.varint();
    counts[at + field] = count;
    sum += count;
  }
  return sum;
}

/** Reads what {@link writePlaces} has written for counts from `at` on. Returns the next index. */
export function readPlaces(
  reader: ByteReader,
  fields: number,
  counts: Int32Array,
  at: number,
  places: Int32Array,
  start: number,
): number {
  let next = start;
  for (let field = 0; field < fields; field++) {
    let place = field * fieldSpan;
    for (let left = counts[at + field]!; left > 0; left--) {
      place += reader.varint();
      places[next++] = place;
    }
  }
  return next;
}

/** Skips what {@link writeCounts} has written. Returns the sum of the counts. */
export function skipCounts(reader: ByteReader, fields: number): number {
  const head = reader.varint();
  if (head % 2 === 0) return Math.floor(head / 2 / fields) + 1;
  let sum = 0;
  for (let mask = (head - 1) / 2; mask > 0; mask = Math.floor(mask / 2))
    if (mask % 2 === 1) sum += reader.varint();
  return sum;
}

/** Skips as many numbers as {@link writePlaces} has written for a sum of counts. */
export function skipPlaces(reader: ByteReader, sum: number): void {
  const { bytes } = reader;
  let { at } = reader;
  for (let left = sum; left > 0; left--) while (bytes[at++]! >= 0x80);
  reader.at = at;
}

function fieldOf(place: number): number {
  return Math.floor(place / fieldSpan);
}
