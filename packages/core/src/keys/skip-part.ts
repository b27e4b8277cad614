import { MalformedKeyError } from "../errors/core-errors.js";
import { numberPartBytes } from "./encode-plain-key.js";
import type { KeyOrder } from "./key-order.js";
import { keyTag, longBigint, partEnd, zeroEscape } from "./key-tags.js";

/**
 * Returns the offset after the key part that begins at `offset` of an encoded key. Does not check
 * the content of the part.
 *
 * @param end the offset after the last part of the key.
 * @throws {MalformedKeyError} if the tag of the part is unknown, or if the key ends in the part.
 */
export function skipPart(bytes: Uint8Array, offset: number, end: number, order: KeyOrder): number {
  const tag = bytes[offset]!;
  let next = offset + 1;
  if (tag === keyTag.string || tag === keyTag.bytes) {
    for (; next < end; next++) {
      if (bytes[next] !== partEnd) continue;
      if (next + 1 === end || bytes[next + 1] !== zeroEscape) break;
      next++;
    }
    next++;
  } else if (tag === order.numberTag) {
    next = offset + numberPartBytes;
  } else if (tag >= keyTag.bigNegative && tag <= keyTag.bigPositive) {
    next = offset + 1 + bigintBytes(bytes, offset, order);
  } else if (tag !== keyTag.false && tag !== keyTag.true) {
    throw new MalformedKeyError("a part has an unknown tag", offset);
  }
  if (next > end) throw new MalformedKeyError("the last part is incomplete", offset);
  return next;
}

/**
 * Returns how many bytes a bigint has after its tag: its length, if it is stored, and its digits.
 */
function bigintBytes(bytes: Uint8Array, offset: number, { maxBigintBytes }: KeyOrder): number {
  const tag = bytes[offset]!;
  const size = Math.abs(tag - keyTag.zero);
  if (size <= 8) return size;
  const flip = tag < keyTag.zero ? 0xff : 0;
  const length = bytes[offset + 1]! ^ flip;
  if (length !== longBigint || maxBigintBytes <= longBigint) return 1 + length;
  return 3 + (((bytes[offset + 2]! ^ flip) << 8) | (bytes[offset + 3]! ^ flip));
}
