/** Keys that begin with a zero byte are the database's own: no encoded key of a user's entry begins with one. */
const reserved = 0x00;

/** Under this key stands what the database is: its format and its mode. */
export const headerKey: Uint8Array = Uint8Array.of(reserved, 0x01);

/**
 * From here to {@link firstEntryKey} are the entries that the database keeps for itself, such as the messages of its
 * queue. The engine stores them as it stores all others, and shows them to a range that begins among them.
 */
export const firstSystemKey: Uint8Array = Uint8Array.of(reserved, 0x03);

/** The first possible key of a user's entry. */
export const firstEntryKey: Uint8Array = Uint8Array.of(reserved + 1);

/** Behind the keys of all entries, with nothing stored under it: the end of the database, for iterators to find. */
export const lastKey: Uint8Array = Uint8Array.of(0xff);

const commitRecordTag = 0x02;

/** How many commit records are kept. */
export const commitRecordSlots = 0x8000;

/** The key of the commit record of a group: a ring of slots, in which the oldest record makes room for the newest. */
export function commitRecordKey(sequence: number): Uint8Array {
  const slot = sequence % commitRecordSlots;
  return Uint8Array.of(reserved, commitRecordTag, slot >>> 8, slot & 0xff);
}

/** The range of all commit records: inclusive, exclusive. */
export const commitRecordRange: {
  readonly gte: Uint8Array;
  readonly lt: Uint8Array;
} = {
  gte: Uint8Array.of(reserved, commitRecordTag),
  lt: Uint8Array.of(reserved, commitRecordTag + 1),
};
