import { compareBytes } from "../../../bytes/compare-bytes.js";
import { type CommitRecord, decodeCommitRecord } from "../commit-record.js";
import { ByteReader } from "../files/byte-reader.js";
import { maxBatchSequence } from "../files/log-records.js";
import { commitRecordRange } from "../reserved-keys.js";
import type { StoredWrite } from "./stored-write.js";

const headerBytes = 12;
const put = 1;

/** A batch of LevelDB, as a record of its log. */
export interface Batch {
  /** The sequence number of its first write. */
  readonly sequence: number;
  /** The number of its writes. The next batch begins with `sequence + count`. */
  readonly count: number;
  readonly writes: readonly StoredWrite[];
  /** The commit record among its writes. Every group of commits has one. */
  readonly commit: CommitRecord | undefined;
}

/** @throws {RangeError} if the record is not a batch. */
export function readBatch(record: Uint8Array): Batch {
  if (record.length < headerBytes) throw new RangeError("a batch is too short");
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  const sequence = Number(view.getBigUint64(0, true));
  if (sequence > maxBatchSequence) throw new RangeError("a sequence number is too large");
  const count = view.getUint32(8, true);
  const reader = new ByteReader(record, headerBytes);
  const writes: StoredWrite[] = [];
  let commit: CommitRecord | undefined;
  while (!reader.isAtEnd) {
    const isPut = reader.bytes(1)[0] === put;
    const key = reader.lengthPrefixed();
    const value = isPut ? reader.lengthPrefixed() : undefined;
    writes.push({ key, value, sequence: sequence + writes.length });
    if (value !== undefined && isCommitRecordKey(key)) commit = decodeCommitRecord(key, value);
  }
  return { sequence, count, writes, commit };
}

function isCommitRecordKey(key: Uint8Array): boolean {
  const { gte, lt } = commitRecordRange;
  return compareBytes(key, gte) >= 0 && compareBytes(key, lt) < 0;
}
