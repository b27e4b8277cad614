import type { StoredEntry } from "./engine.js";

/** A read of a range stops when the values of its entries reach this many bytes in total. */
export const maxRangeBytes: number = 8 * 1024 * 1024;

/**
 * True if a range has no more entries than `entries`, which `getRange` returned for this `limit`.
 */
export function isRangeEnd(entries: readonly StoredEntry[], limit: number): boolean {
  if (entries.length >= limit) return false;
  let bytes = 0;
  for (const { value } of entries) bytes += value.length;
  return bytes < maxRangeBytes;
}
