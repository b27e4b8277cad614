/**
 * The byte that begins each encoded part, but for a number's, which is the key order's. They are the tags of the
 * FoundationDB tuple layer, which Deno KV uses too.
 */
export const keyTag = {
  bytes: 0x01,
  string: 0x02,
  /** A negative bigint of more than eight bytes: a length follows. */
  bigNegative: 0x0b,
  /** 0n. A bigint of n bytes, 1 to 8, has the tag n above (positive) or n below (negative). */
  zero: 0x14,
  /** A positive bigint of more than eight bytes: a length follows. */
  bigPositive: 0x1d,
  false: 0x26,
  true: 0x27,
} as const;

/** Ends a `Uint8Array` or string part. Inside one, a zero byte is written `00 FF`. */
export const partEnd = 0x00;
export const zeroEscape = 0xff;

/** From this many magnitude bytes on, a bigint's length is this byte and then two bytes, in an order that has so many. */
export const longBigint = 0xff;
