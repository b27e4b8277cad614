import { isVariableName } from "../types/identifiers.js";

/** Thrown for a part of a manifest that no Zod schema describes. */
export class UnwritableError extends Error {}

/** Returns a literal of a primitive value or a date, or a list or plain object of these. */
export function literalSource(value: unknown): string {
  if (typeof value === "string") return jsonSource(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (typeof value === "boolean" || value === null) return String(value);
  if (value instanceof Date) return dateSource(value);
  if (Array.isArray(value)) return `[${value.map(literalSource).join(", ")}]`;
  if (!isPlain(value)) throw new UnwritableError("it is no plain value");
  const properties = Object.entries(value).map(
    ([name, part]) => `${nameSource(name)}: ${literalSource(part)}`,
  );
  return properties.length === 0 ? "{}" : `{ ${properties.join(", ")} }`;
}

/** Returns JSON that is also valid code: no character in a string can end the line. */
export function jsonSource(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

export function dateSource(date: Date): string {
  if (Number.isNaN(date.getTime())) throw new UnwritableError("it is no date");
  return `new Date(${jsonSource(date.toISOString())})`;
}

export function regexSource(source: string, flags: string): string {
  try {
    // The text of a `RegExp` escapes everything that could end the literal.
    return String(new RegExp(source, flags));
  } catch {
    throw new UnwritableError("it is no regular expression");
  }
}

/** Returns the name of a property as it is written in an object literal. */
export function nameSource(name: string): string {
  // Without brackets it would set the prototype.
  if (name === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : jsonSource(name);
}

/** Refuses characters above U+FFFF, because a compiler may not know the newest ones. */
export function canBeVariable(name: string): boolean {
  return isVariableName(name) && !/[^\0-\uffff]/u.test(name);
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

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
