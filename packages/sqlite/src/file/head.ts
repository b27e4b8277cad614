import { Buffer } from "node:buffer";
import { CorruptionError, DatabaseFormatError } from "@keywright/core";
import { formatVersionstamp, hasValidChecksum, writeChecksum } from "@keywright/core/engine";

/** The state of a database after a group of commits. */
export interface Head {
  /** The number of groups so far. It is the sequence of the last versionstamp. */
  readonly sequence: number;
  /** The order of the last commit in its group. */
  readonly order: number;
  readonly entries: number;
  /** The sum of the checksums of all entries' records, modulo 2^32. */
  readonly checksums: number;
}

export const emptyHead: Head = { sequence: 0, order: 0, entries: 0, checksums: 0 };

const format = 1;
const orderOffset = 1;
const entriesOffset = orderOffset + 2;
const checksumsOffset = entriesOffset + 6;
const headBytes = checksumsOffset + 4 + 4;

/** Returns the versionstamp of the last commit of a state. */
export function versionstampOf({ sequence, order }: Head): string {
  return formatVersionstamp(sequence, order);
}

/** Returns what the checksum of a row of `commits` includes, in addition to the column. */
export function sequenceKey(sequence: number): Uint8Array {
  const key = Buffer.alloc(8);
  key.writeBigUInt64BE(BigInt(sequence));
  return key;
}

/**
 * Encodes the column `head` of a row of `commits`: a format byte, the order in 2 bytes, the number
 * of entries in 6 bytes, the sum of their checksums in 4 bytes, and a checksum as `writeChecksum`
 * writes it.
 */
export function encodeHead({ sequence, order, entries, checksums }: Head): Uint8Array {
  const value = Buffer.alloc(headBytes);
  value[0] = format;
  value.writeUInt16BE(order, orderOffset);
  value.writeUIntBE(entries, entriesOffset, 6);
  value.writeUInt32BE(checksums, checksumsOffset);
  writeChecksum(sequenceKey(sequence), value);
  return value;
}

/**
 * @throws {DatabaseFormatError} if the head has a later format.
 * @throws {CorruptionError} if it is damaged.
 */
export function decodeHead(sequence: number, head: Uint8Array): Head {
  if (!hasValidChecksum(sequenceKey(sequence), head))
    throw new CorruptionError("the record of its last commit does not match its checksum");
  const value = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  if (value[0] !== format || value.length !== headBytes)
    throw new DatabaseFormatError(`the record of a commit has the unknown format ${value[0]}`);
  return {
    sequence,
    order: value.readUInt16BE(orderOffset),
    entries: value.readUIntBE(entriesOffset, 6),
    checksums: value.readUInt32BE(checksumsOffset),
  };
}
