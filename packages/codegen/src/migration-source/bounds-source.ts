/** How long something may be: `.min(1).max(3)`, or `.length(2)`. */
export function lengthsSource(least: unknown, most: unknown): string {
  if (least !== undefined && least === most) return `.length(${Number(least)})`;
  return sizesSource(least, most);
}

/** The same of a map or a set. */
export function sizesSource(least: unknown, most: unknown): string {
  return [["min", least] as const, ["max", most] as const]
    .map(([method, value]) => (value === undefined ? "" : `.${method}(${Number(value)})`))
    .join("");
}
