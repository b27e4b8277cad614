import { type InspectOptions, inspect } from "node:util";
import { escapeData } from "./escape-controls.js";
import { asU64 } from "./value-json.js";

/** Formats a value for people without leaving anything out. */
export function showValue(value: unknown, colors: boolean): string {
  return shown(value, {}, colors);
}

/** Formats a value like {@link showValue}, but on one line. */
export function showValueInLine(value: unknown, colors: boolean): string {
  // Stacks of errors contain line breaks.
  return shown(value, { breakLength: Infinity, compact: true }, colors).replace(/\s*\n\s*/g, " ");
}

/**
 * Without colors if the value has characters that are escaped: their codes would be escaped too.
 */
function shown(value: unknown, options: InspectOptions, colors: boolean): string {
  const source = toInspect(value);
  const text = inspect(source, { ...everything, ...options, colors: false });
  const safe = text.split("\n").map(escapeData).join("\n");
  return colors && safe === text
    ? inspect(source, { ...everything, ...options, colors: true })
    : safe;
}

const everything = { depth: null, maxArrayLength: null, maxStringLength: null } as const;

/** Replaces a `KvU64` of any implementation, because its own form shows little. */
function toInspect(value: unknown): unknown {
  const number = asU64(value);
  return number === undefined ? value : { [inspect.custom]: () => `KvU64(${number.value}n)` };
}
