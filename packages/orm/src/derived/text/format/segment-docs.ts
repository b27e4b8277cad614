import { ByteReader, TextBytesError } from "./byte-reader.js";
import { ByteWriter } from "./byte-writer.js";
import { compareBytes } from "./compare-bytes.js";

/** How many documents the blocks of a small segment have. Those of large ones have more. */
const minDocsPerBlock = 256;
/** How many entries a list of first keys has at most. */
const maxFirstKeys = 2048;
/** How many documents one block of lengths has. */
export const docsPerLengths = 8192;

/** Returns how many documents each block of a segment has, so that the first keys fit an entry. */
export function docsPerBlockOf(docs: number): number {
  let size = minDocsPerBlock;
  while (docs / size > maxFirstKeys && size < 1024) size *= 2;
  return size;
}

/** Encodes sorted keys: for each, how many bytes it has in common with the one before. */
export function encodeKeys(keys: readonly Uint8Array[]): Uint8Array {
  const writer = new ByteWriter(16 * keys.length);
  writer.varint(keys.length);
  let before: Uint8Array = new Uint8Array();
  for (const key of keys) {
    let same = 0;
    while (same < key.length && same < before.length && key[same] === before[same]) same++;
    writer.varint(same);
    writer.varint(key.length - same);
    writer.bytes(key.subarray(same));
    before = key;
  }
  return writer.finish();
}

export function decodeKeys(bytes: Uint8Array): Uint8Array[] {
  const reader = new ByteReader(bytes);
  const count = reader.varint();
  const keys: Uint8Array[] = [];
  let before: Uint8Array = new Uint8Array();
  for (let i = 0; i < count; i++) {
    const same = reader.varint();
    const rest = reader.take(reader.varint());
    const key = new Uint8Array(same + rest.length);
    key.set(before.subarray(0, same));
    key.set(rest, same);
    keys.push(key);
    before = key;
  }
  return keys;
}

/** The keys of a block, which share their memory. */
export interface KeyBlock {
  readonly bytes: Uint8Array;
  /** Where each key begins, and where the last one ends. */
  readonly starts: Int32Array;
}

export function decodeKeyBlock(encoded: Uint8Array): KeyBlock {
  const reader = new ByteReader(encoded);
  const starts = new Int32Array(reader.varint() + 1);
  let bytes = new Uint8Array(4 * encoded.length);
  let before = 0;
  let next = 0;
  for (let i = 1; i < starts.length; i++) {
    const same = reader.varint();
    const rest = reader.varint();
    const start = next;
    if (start + same + rest > bytes.length) {
      const longer = new Uint8Array(2 * (start + same + rest));
      longer.set(bytes);
      bytes = longer;
    }
    for (let at = 0; at < same; at++) bytes[next++] = bytes[before + at]!;
    for (let at = 0; at < rest; at++) bytes[next++] = encoded[reader.at + at]!;
    reader.at += rest;
    if (reader.at > reader.end) throw new TextBytesError();
    before = start;
    starts[i] = next;
  }
  return { bytes: bytes.slice(0, next), starts };
}

/** @throws {TextBytesError} if the block has no such key. */
export function keyAt({ bytes, starts }: KeyBlock, position: number): Uint8Array {
  if (position + 1 >= starts.length) throw new TextBytesError();
  return bytes.subarray(starts[position]!, starts[position + 1]!);
}

/** Returns the position of the last key that is not after another one, or -1. */
export function lastUpTo(keys: readonly Uint8Array[], key: Uint8Array): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes(keys[middle]!, key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The lengths of documents, and the times at which they expire: 0 for those that do not. */
export interface Lengths {
  readonly lengths: Int32Array;
  /** Undefined if none of them expires. */
  readonly expireAt: Float64Array | undefined;
}

/** True if a document with this time counts no longer. 0 and undefined are no times. */
export function isExpired(expireAt: number | undefined, now: number): boolean {
  return expireAt !== undefined && expireAt > 0 && expireAt <= now;
}

/** Encodes the lengths of some documents: the bytes of each number, and then the numbers. */
export function encodeLengths({ lengths, expireAt }: Lengths): Uint8Array {
  let max = 0;
  for (const length of lengths) if (length > max) max = length;
  const width = max < 0x100 ? 1 : max < 0x1_00_00 ? 2 : 4;
  const expires = expireAt?.some((time) => time > 0) === true;
  const start = 2;
  const bytes = new Uint8Array(start + lengths.length * (width + (expires ? 8 : 0)));
  bytes[0] = width;
  bytes[1] = expires ? 1 : 0;
  const view = new DataView(bytes.buffer);
  let at = start;
  for (const length of lengths) {
    if (width === 1) bytes[at] = length;
    else if (width === 2) view.setUint16(at, length, true);
    else view.setUint32(at, length, true);
    at += width;
  }
  if (!expires) return bytes;
  for (const time of expireAt!) {
    view.setFloat64(at, time, true);
    at += 8;
  }
  return bytes;
}

/** Copies encoded lengths to an array from `at` on. Returns the times, if there are any. */
export function decodeLengths(
  bytes: Uint8Array,
  lengths: Int32Array,
  at: number,
): Float64Array | undefined {
  const width = bytes[0]!;
  const expires = bytes[1] === 1;
  const count = (bytes.length - 2) / (width + (expires ? 8 : 0));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let next = 2;
  for (let i = 0; i < count; i++, next += width) {
    lengths[at + i] =
      width === 1
        ? bytes[next]!
        : width === 2
          ? view.getUint16(next, true)
          : view.getUint32(next, true);
  }
  if (!expires) return undefined;
  const times = new Float64Array(count);
  for (let i = 0; i < count; i++, next += 8) times[i] = view.getFloat64(next, true);
  return times;
}

/** Encodes ascending numbers of documents. */
export function encodeNumbers(numbers: Iterable<number>): Uint8Array {
  const writer = new ByteWriter();
  let before = 0;
  for (const number of numbers) {
    writer.varint(number - before);
    before = number;
  }
  return writer.finish();
}

export function decodeNumbers(bytes: Uint8Array): number[] {
  const reader = new ByteReader(bytes);
  const numbers: number[] = [];
  let before = 0;
  while (!reader.isAtEnd) {
    before += reader.varint();
    numbers.push(before);
  }
  return numbers;
}
