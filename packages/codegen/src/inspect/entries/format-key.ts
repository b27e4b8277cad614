import type { KvKey, KvKeyPart } from "@keywright/core";
import { wordOf } from "./value-token.js";

/**
 * Writes a key as a JSON array in which bigints, bytes and some numbers are words without quotes:
 * `["users", 1n, b64:AQID, -0]`. A text always has quotes, so that the text `"1n"` is none of them. `parseKey` reads it.
 */
export function formatKey(key: KvKey): string {
  return `[${key.map(partText).join(", ")}]`;
}

function partText(part: KvKeyPart): string {
  return wordOf(part) ?? (typeof part === "string" ? quoted(part) : JSON.stringify(part));
}

/** What a terminal would take for a command or for the end of a line is escaped beside what JSON escapes. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
