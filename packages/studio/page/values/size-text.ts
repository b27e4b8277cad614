import type { MeasuredSize } from "../../src/protocol/keys.js";
import { countText } from "./value-text.js";

/** The bytes of entries, and how exact the number is. */
export type Size = Pick<MeasuredSize, "bytes" | "precision">;

const marks: Readonly<Record<Size["precision"], string>> = {
  exact: "",
  estimate: "≈ ",
  minimum: "≥ ",
};
const units = ["KB", "MB", "GB", "TB"];

/** Returns `512 bytes`, `≈ 41.2 MB` or `≥ 38 KB`. */
export function sizeText({ bytes, precision }: Size): string {
  return `${marks[precision]}${bytesText(bytes)}`;
}

/** Returns `512 bytes` or `41.2 MB`. A KB has 1,000 bytes. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return countText(bytes, "byte");
  let [value, unit] = [bytes / 1000, 0];
  while (value >= 999.5 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${Number(value.toPrecision(3)).toLocaleString("en")} ${units[unit]}`;
}

/** Returns the sum. It is a minimum if one of the sizes is, and an estimate if one of them is. */
export function sumOf(sizes: Iterable<Size>): Size {
  const sum: { bytes: number; precision: Size["precision"] } = { bytes: 0, precision: "exact" };
  for (const { bytes, precision } of sizes) {
    sum.bytes += bytes;
    if (precision === "minimum" || sum.precision === "exact") sum.precision = precision;
  }
  return sum;
}
