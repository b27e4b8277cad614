import { crc32 } from "../../bytes/crc32.js";
import { CorruptionError, DatabaseFormatError } from "../../errors/core-errors.js";
import {
  readVersionstamp,
  versionstampBytes,
  writeVersionstamp,
} from "../../values/versionstamp.js";
import type { StoredEntry } from "../engine.js";

/** The byte that begins a record: format 1 in the high half, no flags in the low half. */
const recordHeader = 0x10;
const valueOffset = 1 + versionstampBytes;
const checksumBytes = 4;

/**
 * Writes a record, as LevelDB stores it under an entry's key, into `record`, which has {@link recordSize} bytes: a
 * header byte, the versionstamp, the encoded value, and a CRC-32 over the key and all of these, big-endian. LevelDB
 * returns flipped bits as it finds them; the checksum is what tells.
 */
export function encodeRecord(
  key: Uint8Array,
  value: Uint8Array,
  versionstamp: string,
  record: Uint8Array,
): void {
  record[0] = recordHeader;
  writeVersionstamp(versionstamp, record, 1);
  record.set(value, valueOffset);
  writeChecksum(key, record);
}

/** Bytes of the record of an encoded value. */
export function recordSize(value: Uint8Array): number {
  return valueOffset + value.length + checksumBytes;
}

/**
 * Reads a record that LevelDB returned for `key`. The entry's value is a view of it.
 *
 * @throws {CorruptionError} where the checksum does not match, or what is there is too short for a record.
 * @throws {DatabaseFormatError} for a sound record of a format that a later version wrote.
 */
export function decodeRecord(key: Uint8Array, record: Uint8Array): StoredEntry {
  if (!hasValidChecksum(key, record)) {
    throw new CorruptionError("a record does not match its checksum", key);
  }
  if (record[0] !== recordHeader) throw new DatabaseFormatError(`record format ${record[0]}`);
  const size = record.length - valueOffset - checksumBytes;
  if (size < 0) throw new CorruptionError("a record is too short", key);
  return {
    key,
    value: new Uint8Array(record.buffer, record.byteOffset + valueOffset, size),
    versionstamp: readVersionstamp(record, 1),
  };
}

/** Writes the CRC-32 of a key and a record into the record's last four bytes. */
export function writeChecksum(key: Uint8Array, record: Uint8Array): void {
  const body = record.subarray(0, record.length - checksumBytes);
  viewOf(record).setUint32(body.length, crc32(body, crc32(key)));
}

/** Whether a record's last four bytes are the CRC-32 of the key and what is before them. */
export function hasValidChecksum(key: Uint8Array, record: Uint8Array): boolean {
  if (record.length <= checksumBytes) return false;
  const body = record.subarray(0, record.length - checksumBytes);
  return viewOf(record).getUint32(body.length) === crc32(body, crc32(key));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
