/**
 * The byte that begins each encoded part. Bytes, strings, integers and booleans have the tags of the FoundationDB tuple
 * layer, which Deno KV uses too; numbers come before bigints, as the specification's list of part types has them
 * (`docs/adr/0001-number-before-bigint.md`).
 */
export const keyTag = {
  bytes: 0x01,
  string: 0x02,
  number: 0x0a,
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

/** From this many magnitude bytes on, a bigint's length is this byte and then two bytes. */
export const longBigint = 0xff;
/** The most magnitude bytes that a bigint part can have. */
export const maxBigintBytes = 0xffff;
