/** A field with decimal numbers that an index or a model sums. Made by `decimal`. */
export interface DecimalField<F extends string = string> {
  readonly decimal: F;
  /** The number of digits after the decimal point. */
  readonly scale: number;
}

/**
 * Declares a field with decimal numbers for `sum`. Its values are texts such as `"12.50"`, or
 * numbers. They are added as integers, so that the sum is exact: `"12.50"` is 1250 if the scale is
 * 2. A value with more digits after the decimal point is refused.
 *
 * ```ts
 * const indexes = { byCustomer: { key: "customer", sum: [decimal("price", 2)] } };
 * ```
 *
 * @param scale the number of digits after the decimal point, from 0 to 15.
 */
export function decimal<const F extends string>(field: F, scale: number): DecimalField<F> {
  return { decimal: field, scale };
}
