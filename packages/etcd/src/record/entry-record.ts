import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { CorruptionError, DatabaseFormatError, type StoredEntry } from "@keywright/core";
import type { KeyValue } from "../client/etcd-messages.js";
import { firstReservedPosition, formatStamp, type Stamp } from "./stamp.js";

/** The first byte of a record: format 1. */
const recordFormat = 0x01;
const revisionOffset = 3;
const never = 0xffff_ffff_ffff_ffffn;
const checksumBytes = 4;

/** The bytes at the beginning of a record, without those of the value. */
export interface RecordHead {
  readonly stamp: Stamp;
  /** Milliseconds since the epoch. */
  readonly expireAt: number | undefined;
}

/**
 * Encodes the record that etcd stores under the key of an entry: the format `01`, the position of
 * the commit in its batch (2 bytes), its revision (8 bytes) if the position is a reserved one, the
 * expiry time in milliseconds since the epoch (8 bytes, all `ff` if the entry does not expire), the
 * encoded value, and a CRC-32 over the entry's key and all of these. Integers are big-endian.
 *
 * The beginning sorts by position and expiry, so that a comparison in etcd can check both.
 */
export function encodeRecord(
  entryKey: Uint8Array,
  value: Uint8Array,
  { stamp, expireAt }: RecordHead,
): Buffer {
  const head = encodeHead(stamp, expireAt === undefined ? never : BigInt(expireAt));
  const record = Buffer.allocUnsafe(head.length + value.length + checksumBytes);
  record.set(head);
  record.set(value, head.length);
  const end = record.length - checksumBytes;
  record.writeUInt32BE(checksum(entryKey, record.subarray(0, end)), end);
  return record;
}

/**
 * Decodes what etcd stores for an entry. The value of the entry is a view of it.
 *
 * @param entryKey the key of the entry in the database.
 * @throws {CorruptionError} if the checksum does not match, or if the record is too short.
 * @throws {DatabaseFormatError} if the record is intact but has a later format.
 */
export function decodeRecord(
  entryKey: Uint8Array,
  { value: record, modRevision }: Pick<KeyValue, "value" | "modRevision">,
): StoredEntry {
  const end = record.length - checksumBytes;
  if (end < 0 || record.readUInt32BE(end) !== checksum(entryKey, record.subarray(0, end))) {
    throw new CorruptionError("a record does not match its checksum", entryKey);
  }
  if (record[0] !== recordFormat)
    throw new DatabaseFormatError(`a record has the unknown format ${record[0]}`);
  const position = record.readUInt16BE(1);
  const isReserved = position >= firstReservedPosition;
  const expiryOffset = isReserved ? revisionOffset + 8 : revisionOffset;
  if (end < expiryOffset + 8) throw new CorruptionError("a record is too short", entryKey);
  const revision = isReserved ? Number(record.readBigUInt64BE(revisionOffset)) : modRevision;
  const expiry = record.readBigUInt64BE(expiryOffset);
  return {
    key: entryKey,
    value: record.subarray(expiryOffset + 8, end),
    versionstamp: formatStamp({ revision, position }),
    expireAt: expiry === never ? undefined : Number(expiry),
  };
}

/**
 * Returns two bounds, exclusive, between which lie all records of the commit with this stamp that
 * expire after `now`, and no others of the same revision.
 */
export function recordBounds(
  stamp: Stamp,
  now: number,
): { readonly above: Buffer; readonly below: Buffer } {
  const { revision, position } = stamp;
  const isReserved = position >= firstReservedPosition;
  const after = isReserved
    ? { revision: revision + 1, position }
    : { revision, position: position + 1 };
  return {
    above: encodeHead(stamp, BigInt(now + 1)),
    below: encodeHead(after, 0n),
  };
}

function encodeHead({ revision, position }: Stamp, expiry: bigint): Buffer {
  const isReserved = position >= firstReservedPosition;
  const head = Buffer.allocUnsafe(isReserved ? 19 : 11);
  head[0] = recordFormat;
  head.writeUInt16BE(position, 1);
  if (isReserved) head.writeBigUInt64BE(BigInt(revision), revisionOffset);
  head.writeBigUInt64BE(expiry, head.length - 8);
  return head;
}

function checksum(entryKey: Uint8Array, record: Uint8Array): number {
  return crc32(record, crc32(entryKey));
}
