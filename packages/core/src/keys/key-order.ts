/** An order of keys. A database keeps its order for life, because its entries are stored in it. */
export interface KeyOrder {
  /** The tag of number parts. It places numbers before or after bigints. */
  readonly numberTag: number;
  /**
   * The maximum size of the magnitude of a bigint part, in bytes. If it is at most 255, the length
   * of a bigint always takes one byte.
   */
  readonly maxBigintBytes: number;
}

/**
 * The order of the specification's list of part types: numbers before bigints
 * (`docs/adr/0001-number-before-bigint.md`).
 */
export const specificationOrder: KeyOrder = { numberTag: 0x0a, maxBigintBytes: 0xffff };

/** The order and the bytes of Deno KV: bigints before numbers, and at most 255 bytes per bigint. */
export const denoOrder: KeyOrder = { numberTag: 0x21, maxBigintBytes: 0xff };
