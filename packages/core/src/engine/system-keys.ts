import { compareBytes } from "../bytes/compare-bytes.js";
import type { KeyRange } from "../keys/key-range.js";

/**
 * The first key of the entries that the database keeps for itself, such as the messages of its
 * queue. They end before {@link firstEntryKey}. The engine stores them like all others. A range
 * contains them only if it begins among them. Keys before this one are the engine's own.
 */
export const firstSystemKey: Uint8Array = Uint8Array.of(0x00, 0x03);

/** The first key that an entry of a user may have. */
export const firstEntryKey: Uint8Array = Uint8Array.of(0x01);

/** The key after those of all entries. */
export const afterEntries: Uint8Array = Uint8Array.of(0xff);

/** Excludes the database's own entries from a range, unless the range begins among them. */
export function visibleRange({ start, end }: KeyRange): KeyRange {
  const isOfSystem = compareBytes(start, firstSystemKey) >= 0;
  return { start: isOfSystem ? start : firstEntryKey, end };
}
