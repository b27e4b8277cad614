import { compareBytes, startsWithBytes } from "../bytes/compare-bytes.js";
import { InvalidSelectorError } from "../errors/core-errors.js";
import { encodeKey } from "./encode-key.js";
import type { KvKey } from "./key.js";
import { type KeyOrder, specificationOrder } from "./key-order.js";
import { keyTag, zeroEscape } from "./key-tags.js";

/**
 * Which entries `list` reads: those under a prefix (the key that equals the prefix is not one of them), of these those
 * from `start` on or before `end`, or those from `start` on and before `end`. `start` is inclusive, `end` exclusive.
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

/** All tags lie between these bytes, so that they bound the keys that extend a prefix. */
const belowEveryTag = 0x00;
const aboveEveryTag = 0xff;

/** No key of an entry comes before this one: what begins with a zero byte is the database's own. */
const lowestBound = Uint8Array.of(keyTag.bytes);

/**
 * The range of encoded keys that a selector means. It never has a key that begins with a zero byte.
 *
 * @throws {InvalidSelectorError} for a selector of another shape, a `start` or `end` that does not extend its prefix, or
 * a `start` after its `end`.
 * @throws {InvalidKeyError} as {@link encodeKey}.
 */
export function keyRange(selector: KvListSelector, order: KeyOrder = specificationOrder): KeyRange {
  if (typeof selector !== "object" || selector === null)
    throw new InvalidSelectorError("it is an object");
  const { prefix, start, end } = selector as {
    prefix?: KvKey;
    start?: KvKey;
    end?: KvKey;
  };
  if (prefix === undefined) {
    if (start === undefined || end === undefined) {
      throw new InvalidSelectorError("it needs a prefix, or both a start and an end");
    }
    const range = { start: bound(start, order), end: bound(end, order) };
    if (compareBytes(range.start, range.end) > 0) {
      throw new InvalidSelectorError("its start is after its end");
    }
    return range;
  }
  if (start !== undefined && end !== undefined) {
    throw new InvalidSelectorError("with a prefix it takes a start or an end, not both");
  }
  const bytes = encodeKey(prefix, order);
  const first = bytes.length === 0 ? lowestBound : append(bytes, belowEveryTag);
  return {
    start: start === undefined ? first : within(bytes, encodeKey(start, order), "start"),
    end:
      end === undefined
        ? append(bytes, aboveEveryTag)
        : within(bytes, encodeKey(end, order), "end"),
  };
}

/** The first encoded key after `key`. */
export function keyAfter(key: Uint8Array): Uint8Array {
  return append(key, belowEveryTag);
}

/**
 * The bytes with which every key of the range begins, as far as its bounds tell, and always fewer than a key of the range
 * has: what a cursor leaves out must leave something.
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

/** Gives the bytes of a bound, which must have the parts of the prefix and at least one more. */
function within(prefix: Uint8Array, bytes: Uint8Array, name: "start" | "end"): Uint8Array {
  // After `"a"` an escape goes on with the same part: `"a\0b"` is another part, and so is not under `["a"]`.
  const extendsPrefix =
    bytes.length > prefix.length &&
    bytes[prefix.length] !== zeroEscape &&
    startsWithBytes(bytes, prefix);
  if (!extendsPrefix) throw new InvalidSelectorError(`its ${name} does not extend its prefix`);
  return bytes;
}

function append(bytes: Uint8Array, byte: number): Uint8Array {
  const longer = new Uint8Array(bytes.length + 1);
  longer.set(bytes);
  longer[bytes.length] = byte;
  return longer;
}
