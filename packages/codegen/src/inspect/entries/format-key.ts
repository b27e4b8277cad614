import type { KvKey, KvKeyPart } from "@keywright/core";
import { wordOf } from "./value-token.js";

/**
 * Formats a key as a JSON array in which bigints, bytes and some numbers are words without quotes:
 * `["users", 1n, b64:AQID, -0]`. Strings always have quotes, so the string `"1n"` differs from the
 * bigint `1n`. `parseKey` reads this notation.
 */
export function formatKey(key: KvKey): string {
  return `[${key.map(formatKeyPart).join(", ")}]`;
}

/** Formats one part of a key in the notation of {@link formatKey}. */
export function formatKeyPart(part: KvKeyPart): string {
  return wordOf(part) ?? (typeof part === "string" ? quoted(part) : JSON.stringify(part));
}

/** Also escapes characters that a terminal would execute, or that reverse or end a line. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
