import { appendVersionstampPart } from "../../keys/encode-key.js";
import type { KeyRange } from "../../keys/key-range.js";
import { isConsumerPositionKey } from "./consumer-keys.js";

/**
 * The system key of an entry that exists while the database keeps a log. Its value is a text that
 * no other log has.
 */
export const logSwitchKey: Uint8Array = Uint8Array.of(0x00, 0x07);

/** The system key of what the log still has, and of how long it keeps commits. */
export const logStateKey: Uint8Array = Uint8Array.of(0x00, 0x07, 0x01);

const recordPrefix = Uint8Array.of(0x00, 0x08);

/** The keys of all records of the log. */
export const logRecords: KeyRange = {
  start: recordPrefix,
  end: Uint8Array.of(0x00, 0x09),
};

/** Returns the key of the record of a commit: `00 08`, and its versionstamp as a string part. */
export function logRecordKey(versionstamp: string): Uint8Array {
  return appendVersionstampPart(recordPrefix, versionstamp);
}

/** Returns the range of the records of all commits after a versionstamp. */
export function logRecordsAfter(versionstamp: string): KeyRange {
  const key = logRecordKey(versionstamp);
  const start = new Uint8Array(key.length + 1);
  start.set(key);
  return { start, end: logRecords.end };
}

/**
 * True if changes of the key are logged: those of entries, and of messages of the queue. Other keys
 * of the database itself are not logged, because it can make them again. The position of a consumer
 * is logged, because a consumer recognizes its own commits by it.
 */
export function isLoggedKey(key: Uint8Array): boolean {
  return key[0] !== 0x00 || key[1] === 0x04 || isConsumerPositionKey(key);
}

/** True if a commit with these changes is logged. A commit that only moves positions is not. */
export function isLoggedCommit(changes: readonly { readonly key: Uint8Array }[]): boolean {
  return changes.some(({ key }) => !isConsumerPositionKey(key));
}
