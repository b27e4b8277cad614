/** An order of keys. A database keeps its order for life, because its entries are stored in it. */
export interface KeyOrder {
  /** The tag of number parts. It places numbers before or after bigints. */
  readonly numberTag: number;
  /** The largest magnitude of a bigint, in bytes. Up to 255, its length always takes one byte. */
  readonly maxBigintBytes: number;
}

/** Numbers before bigints, as in the specification (`docs/adr/0001-number-before-bigint.md`). */
export const specificationOrder: KeyOrder = { numberTag: 0x0a, maxBigintBytes: 0xffff };

/** The order and the bytes of Deno KV: bigints before numbers, and at most 255 bytes per bigint. */
export const denoOrder: KeyOrder = { numberTag: 0x21, maxBigintBytes: 0xff };
