import { CorruptionError, DatabaseFormatError } from "../../errors/core-errors.js";
import {
  readVersionstamp,
  sequenceOfVersionstamp,
  versionstampBytes,
  writeVersionstamp,
} from "../../values/versionstamp.js";
import { hasValidChecksum, writeChecksum } from "./record.js";
import { commitRecordKey, commitRecordSlots } from "./reserved-keys.js";

const commitRecordFormat = 0x01;
const lastOffset = 1;
const previousOffset = lastOffset + versionstampBytes;
const countOffset = previousOffset + versionstampBytes;
const commitRecordBytes = countOffset + 4 + 4;

/** Written by each group of commits. The versionstamps are the last of this and the last group. */
export interface CommitRecord {
  readonly last: string;
  readonly previous: string;
  readonly mutations: number;
}

/** The versionstamp that precedes the first one. */
export const noVersionstamp: string = "0".repeat(versionstampBytes * 2);

/**
 * Encodes a commit record: a format byte, the two versionstamps, the number of mutations in four
 * bytes, and a checksum as {@link writeChecksum} writes it.
 */
export function encodeCommitRecord(record: CommitRecord): { key: Uint8Array; value: Uint8Array } {
  const key = commitRecordKey(sequenceOfVersionstamp(record.last));
  const value = new Uint8Array(commitRecordBytes);
  value[0] = commitRecordFormat;
  writeVersionstamp(record.last, value, lastOffset);
  writeVersionstamp(record.previous, value, previousOffset);
  new DataView(value.buffer).setUint32(countOffset, record.mutations);
  writeChecksum(key, value);
  return { key, value };
}

/**
 * @throws {CorruptionError} if the checksum does not match.
 * @throws {DatabaseFormatError} if the record is intact but has a later format.
 */
export function decodeCommitRecord(key: Uint8Array, value: Uint8Array): CommitRecord {
  if (!hasValidChecksum(key, value)) {
    throw new CorruptionError("a commit record does not match its checksum", key);
  }
  if (value[0] !== commitRecordFormat || value.length !== commitRecordBytes) {
    throw new DatabaseFormatError(`a commit record has the unknown format ${value[0]}`);
  }
  return {
    last: readVersionstamp(value, lastOffset),
    previous: readVersionstamp(value, previousOffset),
    mutations: new DataView(value.buffer, value.byteOffset).getUint32(countOffset),
  };
}

/**
 * Returns the last versionstamp of a database, given all of its commit records.
 *
 * @throws {CorruptionError} if commits are missing between two records, or if the number of records
 * is wrong.
 */
export function verifyCommitRecords(records: readonly CommitRecord[]): string {
  const sorted = [...records].sort((a, b) => (a.last < b.last ? -1 : 1));
  const newest = sorted.at(-1);
  if (newest === undefined) return noVersionstamp;
  for (const [index, record] of sorted.slice(1).entries()) {
    const before = sorted[index]!;
    if (record.previous !== before.last) {
      throw new CorruptionError(`commits between ${before.last} and ${record.last} are missing`);
    }
  }
  const expected = Math.min(sequenceOfVersionstamp(newest.last), commitRecordSlots);
  if (sorted.length === expected) return newest.last;
  const reason = `the number of commit records is ${sorted.length} instead of ${expected}`;
  throw new CorruptionError(reason);
}
