/** The first byte of the database's own keys. No encoded key of a user's entry begins with it. */
const reserved = 0x00;

export const headerKey: Uint8Array = Uint8Array.of(reserved, 0x01);

/**
 * The first key of the entries that the database keeps for itself, such as the messages of its
 * queue. They end before {@link firstEntryKey}. The engine stores them like all others. A range
 * contains them only if it begins among them.
 */
export const firstSystemKey: Uint8Array = Uint8Array.of(reserved, 0x03);

export const firstEntryKey: Uint8Array = Uint8Array.of(reserved + 1);

/** The key after those of all entries. It marks the end of the database for iterators. */
export const lastKey: Uint8Array = Uint8Array.of(0xff);

const commitRecordTag = 0x02;

export const commitRecordSlots = 0x8000;

/** The keys of commit records form a ring, in which the newest record replaces the oldest. */
export function commitRecordKey(sequence: number): Uint8Array {
  const slot = sequence % commitRecordSlots;
  return Uint8Array.of(reserved, commitRecordTag, slot >>> 8, slot & 0xff);
}

export const commitRecordRange: { readonly gte: Uint8Array; readonly lt: Uint8Array } = {
  gte: Uint8Array.of(reserved, commitRecordTag),
  lt: Uint8Array.of(reserved, commitRecordTag + 1),
};
