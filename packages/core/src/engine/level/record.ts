import { Buffer } from "#platform";
import { crc32 } from "../../bytes/crc32.js";
import { CorruptionError, DatabaseFormatError } from "../../errors/core-errors.js";
import {
  readVersionstamp,
  versionstampBytes,
  writeVersionstamp,
} from "../../values/versionstamp.js";
import { type EntryMemory, hasExpired, type StoredEntry, type VisitedEntry } from "../engine.js";

/** The first byte of a record: format 1 in the high half, flags in the low half. */
const recordHeader = 0x10;
const expires = 0x01;
const expireAtOffset = 1 + versionstampBytes;
const expireAtBytes = 8;
const checksumBytes = 4;
const noBytes = new Uint8Array(0);

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

/**
 * Returns the record of an entry for a database that copies it. It may be part of shared memory.
 */
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
  const { value, versionstamp, expireAt } = lastRead.read(key, record);
  return { key, value, versionstamp, expireAt };
}

/**
 * An entry in its record. It can read one record after another, so that a reader of many records
 * needs one object. `key` and `value` are views, which are made only if they are asked for.
 */
export class RecordEntry implements VisitedEntry, EntryMemory {
  expireAt: number | undefined = undefined;
  keyBytes: Uint8Array = noBytes;
  keyStart = 0;
  keyEnd = 0;
  record: Uint8Array = noBytes;
  valueStart = 0;
  valueEnd = 0;

  /**
   * Reads the record of a key, which is `keyBytes[keyStart, keyEnd)`. Throws as {@link
   * decodeRecord}.
   */
  read(
    keyBytes: Uint8Array,
    record: Uint8Array,
    keyStart = 0,
    keyEnd: number = keyBytes.length,
  ): this {
    const end = record.length - checksumBytes;
    this.keyBytes = keyBytes;
    this.keyStart = keyStart;
    this.keyEnd = keyEnd;
    if (end <= 0 || !isChecksum(record, end, crc32(keyBytes, keyStart, keyEnd)))
      throw new CorruptionError("a record does not match its checksum", this.key.slice());
    const header = record[0]!;
    if ((header & ~expires) !== recordHeader)
      throw new DatabaseFormatError(`a record has the unknown format ${header}`);
    const hasExpiry = header !== recordHeader;
    this.record = record;
    this.valueStart = valueOffset(hasExpiry);
    this.valueEnd = end;
    if (end < this.valueStart) throw new CorruptionError("a record is too short", this.key.slice());
    this.expireAt = hasExpiry ? Number(viewOf(record).getBigUint64(expireAtOffset)) : undefined;
    return this;
  }

  get memory(): EntryMemory {
    return this;
  }

  get key(): Uint8Array {
    const { buffer, byteOffset } = this.keyBytes;
    return new Uint8Array(buffer, byteOffset + this.keyStart, this.keyEnd - this.keyStart);
  }

  get value(): Uint8Array {
    const { buffer, byteOffset } = this.record;
    return new Uint8Array(buffer, byteOffset + this.valueStart, this.valueBytes);
  }

  /** The size of the value in bytes. */
  get valueBytes(): number {
    return this.valueEnd - this.valueStart;
  }

  get versionstamp(): string {
    return readVersionstamp(this.record, 1);
  }

  writeVersionstamp(target: Uint8Array, offset: number): void {
    const { record } = this;
    for (let i = 0; i < versionstampBytes; i++) target[offset + i] = record[1 + i]!;
  }
}

const lastRead = new RecordEntry();

/**
 * Returns the size in bytes of the value in a record, without checking the record. Undefined if the
 * entry has expired at the time `now`, in milliseconds since the epoch.
 */
export function unexpiredValueBytes(record: Uint8Array, now: number): number | undefined {
  const hasExpiry = (record[0]! & expires) !== 0;
  const valueBytes = record.length - valueOffset(hasExpiry) - checksumBytes;
  if (!hasExpiry || valueBytes < 0) return valueBytes;
  const expireAt = Number(viewOf(record).getBigUint64(expireAtOffset));
  return hasExpired({ expireAt }, now) ? undefined : valueBytes;
}

function valueOffset(hasExpiry: boolean): number {
  return hasExpiry ? expireAtOffset + expireAtBytes : expireAtOffset;
}

/** Writes the CRC-32 of a key and a record into the record's last four bytes. */
export function writeChecksum(key: Uint8Array, record: Uint8Array): void {
  const end = record.length - checksumBytes;
  const checksum = crc32(record, 0, end, crc32(key));
  record[end] = checksum >>> 24;
  record[end + 1] = checksum >>> 16;
  record[end + 2] = checksum >>> 8;
  record[end + 3] = checksum;
}

/** Returns the checksum in the record's last four bytes. */
export function checksumOf(record: Uint8Array): number {
  const end = record.length;
  const bytes =
    (record[end - 4]! << 24) |
    (record[end - 3]! << 16) |
    (record[end - 2]! << 8) |
    record[end - 1]!;
  return bytes >>> 0;
}

/** True if the record's last four bytes are the CRC-32 of the key and the bytes before them. */
export function hasValidChecksum(key: Uint8Array, record: Uint8Array): boolean {
  const end = record.length - checksumBytes;
  return end > 0 && isChecksum(record, end, crc32(key));
}

/**
 * True if the CRC-32 of a key, and of a record up to `end`, is the one that the record has there.
 */
function isChecksum(record: Uint8Array, end: number, crcOfKey: number): boolean {
  const checksum = crc32(record, 0, end, crcOfKey);
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
