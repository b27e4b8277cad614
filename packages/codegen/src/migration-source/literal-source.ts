import { isVariableName } from "../types/identifiers.js";
import { UnwritableError } from "./unwritable-error.js";

/**
 * A value as a literal: text, a number, a bigint, a boolean, null, a date, and lists and plain objects of them.
 *
 * @throws {UnwritableError} for another one.
 */
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

/** JSON that stays in its line and in its quotes, whatever is in it: a text is a literal by it. */
export function jsonSource(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

export function dateSource(date: Date): string {
  if (Number.isNaN(date.getTime())) throw new UnwritableError("it is no date");
  return `new Date(${jsonSource(date.toISOString())})`;
}

/**
 * A regular expression as a literal.
 *
 * @throws {UnwritableError} for what is none.
 */
export function regexSource(source: string, flags: string): string {
  try {
    // What it says of itself can stand between slashes, whatever is in it.
    return String(new RegExp(source, flags));
  } catch {
    throw new UnwritableError("it is no regular expression");
  }
}

/** The name of a property as it stands in an object. */
export function nameSource(name: string): string {
  // Without brackets it would be the prototype.
  if (name === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : jsonSource(name);
}

/** Whether a name can be that of a variable, also for a compiler that does not know the newest letters. */
export function canBeVariable(name: string): boolean {
  return isVariableName(name) && !/[^\0-\uffff]/u.test(name);
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
