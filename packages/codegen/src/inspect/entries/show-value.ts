import { inspect } from "node:util";
import { asU64 } from "./value-json.js";

/** A value for people, with nothing left out. */
export function showValue(value: unknown, colors: boolean): string {
  return harmless(inspect(shown(value), { ...everything, colors }));
}

/** The same in one line. */
export function showValueInLine(value: unknown, colors: boolean): string {
  const text = inspect(shown(value), {
    ...everything,
    colors,
    breakLength: Infinity,
    compact: true,
  });
  // The stacks of errors have lines of their own.
  return harmless(text.replace(/\s*\n\s*/g, " "));
}

const escapeCharacter = "\u001b";
const harmful = new RegExp(`(?!\\n|${escapeCharacter}\\[[0-9]{1,3}m)\\p{Cc}`, "gu");

/** The stacks of errors are shown as they are: what is no line or color in them, a terminal would take for a command. */
function harmless(text: string): string {
  return text.replace(
    harmful,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}

const everything = { depth: null, maxArrayLength: null, maxStringLength: null } as const;

/** Whose own form, whichever implementation it is of, says little. */
function shown(value: unknown): unknown {
  const number = asU64(value);
  return number === undefined ? value : { [inspect.custom]: () => `KvU64(${number.value}n)` };
}
