import type { KvKey, KvKeyPart } from "@keywright/core";
import { escapeJson } from "./escape-controls.js";
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
  return wordOf(part) ?? escapeJson(JSON.stringify(part));
}
