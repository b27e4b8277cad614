import { afterEntries } from "../system-keys.js";

/** The first byte of the database's own keys. No encoded key of a user's entry begins with it. */
const reserved = 0x00;

export const headerKey: Uint8Array = Uint8Array.of(reserved, 0x01);

/** Marks the end of the database for iterators. */
export const lastKey: Uint8Array = afterEntries;

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
