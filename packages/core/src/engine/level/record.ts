import { Buffer } from "node:buffer";
import { crc32 } from "../../bytes/crc32.js";
import { CorruptionError, DatabaseFormatError } from "../../errors/core-errors.js";
import {
  readVersionstamp,
  versionstampBytes,
  writeVersionstamp,
} from "../../values/versionstamp.js";
import type { StoredEntry } from "../engine.js";

/** The first byte of a record: format 1 in the high half, flags in the low half. */
const recordHeader = 0x10;
const expires = 0x01;
const expireAtOffset = 1 + versionstampBytes;
const expireAtBytes = 8;
const checksumBytes = 4;

/**
 * Writes the record that LevelDB stores under an entry's key. `record` must have
 * {@link recordSize} bytes. A record is a header byte, the versionstamp, the expiry time if there
 * is one (milliseconds since the epoch, 8 bytes), the encoded value, and a CRC-32 over the key and
 * all of these. Integers are big-endian. LevelDB returns flipped bits as they are, so the checksum
 * has to detect them.
 */
export function encodeRecord(entry: StoredEntry, record: Uint8Array): void {
  const { key, value, versionstamp, expireAt } = entry;
  record[0] = recordHeader;
  writeVersionstamp(versionstamp, record, 1);
  if (expireAt !== undefined) {
    record[0] |= expires;
    viewOf(record).setBigUint64(expireAtOffset, BigInt(expireAt));
  }
  record.set(value, valueOffset(expireAt !== undefined));
  writeChecksum(key, record);
}

/** Returns the record of an entry for a database that copies it. It may be part of shared memory. */
export function recordOf(entry: StoredEntry): Uint8Array {
  const record = Buffer.allocUnsafe(recordSize(entry));
  encodeRecord(entry, record);
  return record;
}

/** Returns the record of an entry for a database that keeps it. */
export function keptRecordOf(entry: StoredEntry): Uint8Array {
  const record = new Uint8Array(recordSize(entry));
  encodeRecord(entry, record);
  return record;
}

export function recordSize({ value, expireAt }: StoredEntry): number {
  return valueOffset(expireAt !== undefined) + value.length + checksumBytes;
}

/**
 * Decodes a record that LevelDB returned for `key`. The value of the entry is a view of the record.
 *
 * @throws {CorruptionError} if the checksum does not match, or if the record is too short.
 * @throws {DatabaseFormatError} if the record is intact but has a later format.
 */
export function decodeRecord(key: Uint8Array, record: Uint8Array): StoredEntry {
  if (!hasValidChecksum(key, record)) {
    throw new CorruptionError("a record does not match its checksum", key);
  }
  const header = record[0]!;
  if ((header & ~expires) !== recordHeader)
    throw new DatabaseFormatError(`a record has the unknown format ${header}`);
  const hasExpiry = header !== recordHeader;
  const offset = valueOffset(hasExpiry);
  const size = record.length - offset - checksumBytes;
  if (size < 0) throw new CorruptionError("a record is too short", key);
  return {
    key,
    value: new Uint8Array(record.buffer, record.byteOffset + offset, size),
    versionstamp: readVersionstamp(record, 1),
    expireAt: hasExpiry ? Number(viewOf(record).getBigUint64(expireAtOffset)) : undefined,
  };
}

function valueOffset(hasExpiry: boolean): number {
  return hasExpiry ? expireAtOffset + expireAtBytes : expireAtOffset;
}

/** Writes the CRC-32 of a key and a record into the record's last four bytes. */
export function writeChecksum(key: Uint8Array, record: Uint8Array): void {
  const end = record.length - checksumBytes;
  const checksum = crc32(record, crc32(key), end);
  record[end] = checksum >>> 24;
  record[end + 1] = checksum >>> 16;
  record[end + 2] = checksum >>> 8;
  record[end + 3] = checksum;
}

/** True if the record's last four bytes are the CRC-32 of the key and the bytes before them. */
export function hasValidChecksum(key: Uint8Array, record: Uint8Array): boolean {
  const end = record.length - checksumBytes;
  if (end <= 0) return false;
  const checksum = crc32(record, crc32(key), end);
  return (
    record[end] === checksum >>> 24 &&
    record[end + 1] === ((checksum >>> 16) & 0xff) &&
    record[end + 2] === ((checksum >>> 8) & 0xff) &&
    record[end + 3] === (checksum & 0xff)
  );
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
