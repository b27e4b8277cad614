/**
 * What differs between the two orders of keys. A database has one of them for all its life, since its entries are stored
 * in it.
 */
export interface KeyOrder {
  /** The tag of a number part: before those of bigints, or behind them. */
  readonly numberTag: number;
  /** The most magnitude bytes that a bigint part can have. Up to 255 the length takes one byte. */
  readonly maxBigintBytes: number;
}

/** The order of the specification's list of part types: numbers before bigints (`docs/adr/0001-number-before-bigint.md`). */
export const specificationOrder: KeyOrder = { numberTag: 0x0a, maxBigintBytes: 0xffff };

/** The order in which Deno sorts, and its very bytes: bigints, of at most 255 bytes, before numbers. */
export const denoOrder: KeyOrder = { numberTag: 0x21, maxBigintBytes: 0xff };
