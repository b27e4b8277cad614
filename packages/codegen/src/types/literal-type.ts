import type { Alternatives } from "./alternatives.js";

/**
 * Returns the union of literal values, or undefined if one of them, such as Infinity, has no
 * literal type.
 */
export function literalType(values: readonly unknown[]): Alternatives | undefined {
  const members = values.map(literalText);
  return members.every((member) => member !== undefined) ? members : undefined;
}

function literalText(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      return Number.isFinite(value) ? String(value === 0 ? 0 : value) : undefined;
    case "bigint":
      return `${value}n`;
    case "boolean":
    case "undefined":
      return String(value);
    default:
      return value === null ? "null" : undefined;
  }
}
