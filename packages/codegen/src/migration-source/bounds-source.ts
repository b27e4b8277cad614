/** Returns the bounds of a length as code: `.min(1).max(3)`, or `.length(2)`. */
export function lengthsSource(min: unknown, max: unknown): string {
  if (min !== undefined && min === max) return `.length(${Number(min)})`;
  return sizesSource(min, max);
}

/** Returns the bounds of the size of a map or a set as code: `.min(1).max(3)`. */
export function sizesSource(min: unknown, max: unknown): string {
  return [["min", min] as const, ["max", max] as const]
    .map(([method, value]) => (value === undefined ? "" : `.${method}(${Number(value)})`))
    .join("");
}
