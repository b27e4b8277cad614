/**
 * The first byte of each encoded part. Number parts are not listed, because their tag depends on
 * the key order. The tags are those of the FoundationDB tuple layer, which Deno KV also uses.
 */
export const keyTag = {
  bytes: 0x01,
  string: 0x02,
  /** A negative bigint of more than eight bytes. Its length follows. */
  bigNegative: 0x0b,
  /** 0n. A bigint of n bytes, 1 to 8, has this tag plus n, or minus n if it is negative. */
  zero: 0x14,
  /** A positive bigint of more than eight bytes. Its length follows. */
  bigPositive: 0x1d,
  false: 0x26,
  true: 0x27,
} as const;

/** Ends a `Uint8Array` or string part. Inside a part, a zero byte is written as `00 FF`. */
export const partEnd = 0x00;
export const zeroEscape = 0xff;

/**
 * From this many magnitude bytes on, the length of a bigint is written as this byte and two more
 * bytes. An order with a lower maximum, or the same, always writes one byte.
 */
export const longBigint = 0xff;
