import { escapeJson } from "../../inspect/entries/escape-controls.js";
import { wordOf } from "../../inspect/entries/value-token.js";
import type { Terminal } from "./terminal.js";

/**
 * Writes a result as one JSON document. Values that JSON cannot represent become objects, which no
 * string can be confused with: `{"$": "1n"}` for a bigint, `{"$": "b64:…"}` for bytes, `{"$":
 * "NaN"}` and the like for numbers. Dates become strings in ISO 8601, and undefined is left out.
 */
export function writeJson({ stdout }: Terminal, value: unknown): void {
  stdout.write(`${jsonText(value, 2)}\n`);
}

export function jsonText(value: unknown, space?: number): string {
  return escapeJson(JSON.stringify(value, jsonValue, space));
}

/** `toJSON` of a `Date` or `Buffer` has already replaced `value`, but not `this[name]`. */
function jsonValue(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const word = wordOf(this[name]);
  return word === undefined ? value : { $: word };
}
