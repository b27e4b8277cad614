import { compareBytes, startsWithBytes } from "../bytes/compare-bytes.js";
import { InvalidSelectorError } from "../errors/core-errors.js";
import { encodeKey } from "./encode-key.js";
import type { KvKey } from "./key.js";
import { type KeyOrder, specificationOrder } from "./key-order.js";
import { keyTag, zeroEscape } from "./key-tags.js";

/**
 * The entries that `list` reads. A prefix selects the keys that extend it, but not the key that
 * equals it. A `start` or an `end` narrows this selection. Without a prefix, `start` and `end`
 * select the keys between them. `start` is inclusive, `end` is exclusive.
 */
export type KvListSelector =
  | { prefix: KvKey }
  | { prefix: KvKey; start: KvKey }
  | { prefix: KvKey; end: KvKey }
  | { start: KvKey; end: KvKey };

/** A range of encoded keys: `start` inclusive, `end` exclusive. */
export interface KeyRange {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
}

/** All tags lie between these two bytes, so they bound the keys that extend a prefix. */
const belowEveryTag = 0x00;
const aboveEveryTag = 0xff;

/** The lowest bound of a range. Lower keys begin with a zero byte and belong to the database. */
const lowestBound = Uint8Array.of(keyTag.bytes);

/**
 * Returns the range of encoded keys that a selector describes. It never contains a key that begins
 * with a zero byte.
 *
 * @throws {InvalidSelectorError} if the selector has another shape, if `start` or `end` does not
 * extend the prefix, or if `start` is after `end`.
 * @throws {InvalidKeyError} if {@link encodeKey} throws it for a key of the selector.
 */
export function keyRange(selector: KvListSelector, order: KeyOrder = specificationOrder): KeyRange {
  if (typeof selector !== "object" || selector === null)
    throw new InvalidSelectorError(
      "it must be an object with a prefix, or with a start and an end",
    );
  const { prefix, start, end } = selector as {
    prefix?: KvKey;
    start?: KvKey;
    end?: KvKey;
  };
  if (prefix === undefined) {
    if (start === undefined || end === undefined) {
      throw new InvalidSelectorError("it must have a prefix, or both a start and an end");
    }
    const range = { start: bound(start, order), end: bound(end, order) };
    if (compareBytes(range.start, range.end) > 0) {
      throw new InvalidSelectorError("its start must not be after its end");
    }
    return range;
  }
  if (start !== undefined && end !== undefined) {
    throw new InvalidSelectorError("with a prefix it may have a start or an end, but not both");
  }
  const bytes = encodeKey(prefix, order);
  const whole = rangeOfPrefix(bytes);
  return {
    start: start === undefined ? whole.start : within(bytes, encodeKey(start, order), "start"),
    end: end === undefined ? whole.end : within(bytes, encodeKey(end, order), "end"),
  };
}

/** Returns the range of the keys that begin with an encoded key and have at least one more part. */
export function rangeOfPrefix(bytes: Uint8Array): KeyRange {
  return {
    start: bytes.length === 0 ? lowestBound : appendByte(bytes, belowEveryTag),
    end: appendByte(bytes, aboveEveryTag),
  };
}

/** Returns the smallest byte string that sorts after `key`. */
export function keyAfter(key: Uint8Array): Uint8Array {
  return appendByte(key, belowEveryTag);
}

/** Returns what is left of a range after the last key that was read. */
export function restOfRange(
  { start, end }: KeyRange,
  last: Uint8Array,
  reverse: boolean,
): KeyRange {
  return reverse ? { start, end: last } : { start: keyAfter(last), end };
}

/**
 * Returns the bytes with which both bounds begin, and therefore every key of the range. They are
 * always shorter than any key of the range, so a cursor that omits them is never empty.
 */
export function commonPrefix(range: KeyRange): Uint8Array {
  let shared = 0;
  while (shared < range.start.length - 1 && range.start[shared] === range.end[shared]) shared++;
  return range.start.subarray(0, shared);
}

function bound(key: KvKey, order: KeyOrder): Uint8Array {
  const bytes = encodeKey(key, order);
  return bytes.length === 0 ? lowestBound : bytes;
}

/** Returns the bytes of a bound, which must have the parts of the prefix and at least one more. */
function within(prefix: Uint8Array, bytes: Uint8Array, name: "start" | "end"): Uint8Array {
  // An escape after `"a"` continues the same part: `["a\0b"]` is not under `["a"]`.
  const extendsPrefix =
    bytes.length > prefix.length &&
    bytes[prefix.length] !== zeroEscape &&
    startsWithBytes(bytes, prefix);
  if (!extendsPrefix) throw new InvalidSelectorError(`its ${name} must extend its prefix`);
  return bytes;
}

export function appendByte(bytes: Uint8Array, byte: number): Uint8Array {
  const longer = new Uint8Array(bytes.length + 1);
  longer.set(bytes);
  longer[bytes.length] = byte;
  return longer;
}
