import { Buffer } from "node:buffer";
import { endianness } from "node:os";
import { CorruptionError, DatabaseFormatError } from "@keywright/core";
import { hasValidChecksum, writeChecksum } from "@keywright/core/engine";
import { headKey } from "./reserved-keys.js";

/** The state of a database after a commit. */
export interface Head {
  /** The number of commits so far. It is the sequence of the last versionstamp. */
  readonly sequence: number;
  readonly entries: number;
  /** The sum of the checksums of all entries' records, modulo 2^32. */
  readonly checksums: number;
}

export const emptyHead: Head = { sequence: 0, entries: 0, checksums: 0 };

const magic = Buffer.from("keywright-lmdb");
const format = 1;
/**
 * `lmdb` compares the first eight bytes of a value with the version of a condition, as a double.
 */
const sequenceBytes = 8;
const isLittleEndian = endianness() === "LE";
const formatOffset = sequenceBytes + magic.length;
const entriesOffset = formatOffset + 1;
const checksumsOffset = entriesOffset + 6;
const headBytes = checksumsOffset + 4 + 4;

/**
 * Encodes the head: the sequence as a double in the byte order of the machine, a magic word, a
 * format byte, the number of entries in 6 bytes, the sum of their checksums in 4 bytes, and a
 * checksum as `writeChecksum` writes it.
 */
export function encodeHead({ sequence, entries, checksums }: Head): Uint8Array {
  const value = Buffer.alloc(headBytes);
  viewOf(value).setFloat64(0, sequence, isLittleEndian);
  value.set(magic, sequenceBytes);
  value[formatOffset] = format;
  value.writeUIntBE(entries, entriesOffset, 6);
  value.writeUInt32BE(checksums, checksumsOffset);
  writeChecksum(headKey, value);
  return value;
}

/**
 * @throws {DatabaseFormatError} if there is no head, or if it has a later format.
 * @throws {CorruptionError} if the head is damaged.
 */
export function decodeHead(stored: Uint8Array | undefined): Head {
  if (stored === undefined) throw new DatabaseFormatError("it is an LMDB file of another program");
  const value = Buffer.from(stored);
  if (!hasValidChecksum(headKey, value))
    throw new CorruptionError("its head does not match its checksum", headKey);
  if (!value.subarray(sequenceBytes, formatOffset).equals(magic))
    throw new DatabaseFormatError("it is an LMDB file of another program");
  if (value[formatOffset] !== format || value.length !== headBytes)
    throw new DatabaseFormatError(`its head has the unknown format ${value[formatOffset]}`);
  return {
    sequence: viewOf(value).getFloat64(0, isLittleEndian),
    entries: value.readUIntBE(entriesOffset, 6),
    checksums: value.readUInt32BE(checksumsOffset),
  };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
