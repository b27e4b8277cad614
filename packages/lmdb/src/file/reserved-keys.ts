// Keys before `00 03` belong to the engine. All others are those of entries.

/** The key of the head, which each commit replaces. */
export const headKey: Uint8Array = Uint8Array.of(0x00, 0x01);

/** The number of change records. Each commit replaces the oldest one. */
export const changeSlots = 1024;

/** The key of the change record of a commit with this sequence: `00 02` and two bytes. */
export function changeKey(sequence: number): Uint8Array {
  const slot = sequence % changeSlots;
  return Uint8Array.of(0x00, 0x02, slot >>> 8, slot & 0xff);
}
