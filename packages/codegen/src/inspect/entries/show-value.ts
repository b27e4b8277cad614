import { inspect } from "node:util";
import { escapeControls } from "./escape-controls.js";
import { asU64 } from "./value-json.js";

/** Formats a value for people without leaving anything out. */
export function showValue(value: unknown, colors: boolean): string {
  return escapeControls(inspect(toInspect(value), { ...everything, colors }));
}

/** Formats a value like {@link showValue}, but on one line. */
export function showValueInLine(value: unknown, colors: boolean): string {
  const text = inspect(toInspect(value), {
    ...everything,
    colors,
    breakLength: Infinity,
    compact: true,
  });
  // Stacks of errors contain line breaks.
  return escapeControls(text.replace(/\s*\n\s*/g, " "));
}

const everything = { depth: null, maxArrayLength: null, maxStringLength: null } as const;

/** Replaces a `KvU64` of any implementation, because its own form shows little. */
function toInspect(value: unknown): unknown {
  const number = asU64(value);
  return number === undefined ? value : { [inspect.custom]: () => `KvU64(${number.value}n)` };
}
