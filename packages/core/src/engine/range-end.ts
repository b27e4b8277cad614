import type { StoredEntry } from "./engine.js";

/** Where the values of a range's entries have so many bytes together, no more of them are read at once. */
export const maxRangeBytes: number = 8 * 1024 * 1024;

/** Whether a range has no more entries than those that `getRange` answered, of which `limit` were asked for. */
export function isRangeEnd(entries: readonly StoredEntry[], limit: number): boolean {
  if (entries.length >= limit) return false;
  let bytes = 0;
  for (const { value } of entries) bytes += value.length;
  return bytes < maxRangeBytes;
}
