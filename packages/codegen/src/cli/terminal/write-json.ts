import { wordOf } from "../../inspect/entries/value-token.js";
import type { Terminal } from "./terminal.js";

/**
 * Writes a result for programs, as one JSON document. What JSON has no form of is `{"$": "1n"}` for a bigint, `{"$": "b64:…"}`
 * for bytes and `{"$": "NaN"}` and the like for numbers, so that no text looks like one of them; dates are texts in ISO 8601, and
 * undefined is left out.
 */
export function writeJson({ stdout }: Terminal, value: unknown): void {
  stdout.write(`${jsonText(value, 2)}\n`);
}

/** The same as a text. */
export function jsonText(value: unknown, space?: number): string {
  return JSON.stringify(value, jsonValue, space);
}

/** @param this what holds the property: a date has made a text of itself before it comes here, and so has a Buffer. */
function jsonValue(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const word = wordOf(this[name]);
  return word === undefined ? value : { $: word };
}
