import { Buffer } from "node:buffer";
import { hasValidChecksum, writeChecksum } from "@keywright/core/engine";
import { changeKey } from "./reserved-keys.js";

/** The keys that one commit wrote or deleted. */
export type ChangedKeys = readonly { readonly key: Uint8Array }[];

/** A record with more bytes of keys is replaced by one without keys. */
const maxKeyBytes = 64 * 1024;
const sequenceBytes = 8;
const lengthBytes = 2;
const checksumBytes = 4;
const isComplete = 1;

/**
 * Encodes the changes of a commit: its sequence in 8 bytes, 1 if the keys follow or 0 if they are
 * too many, each key after its length in 2 bytes, and a checksum as `writeChecksum` writes it.
 */
export function encodeChangeRecord(sequence: number, changed: ChangedKeys): Uint8Array {
  let bytes = 0;
  for (const { key } of changed) bytes += lengthBytes + key.length;
  const isShort = bytes <= maxKeyBytes;
  const record = Buffer.alloc(sequenceBytes + 1 + (isShort ? bytes : 0) + checksumBytes);
  record.writeBigUInt64BE(BigInt(sequence));
  let offset = sequenceBytes;
  record[offset++] = isShort ? isComplete : 0;
  if (isShort) {
    for (const { key } of changed) {
      record.writeUInt16BE(key.length, offset);
      record.set(key, offset + lengthBytes);
      offset += lengthBytes + key.length;
    }
  }
  writeChecksum(changeKey(sequence), record);
  return record;
}

/**
 * Returns the changed keys of a commit, or undefined if they are not known: because they are too
 * many, or because a later commit has replaced the record.
 */
export function decodeChangeRecord(
  sequence: number,
  stored: Uint8Array | undefined,
): ChangedKeys | undefined {
  if (stored === undefined || !hasValidChecksum(changeKey(sequence), stored)) return undefined;
  const record = Buffer.from(stored.buffer, stored.byteOffset, stored.length - checksumBytes);
  if (record.length <= sequenceBytes || record[sequenceBytes] !== isComplete) return undefined;
  if (Number(record.readBigUInt64BE()) !== sequence) return undefined;
  const changed: { key: Uint8Array }[] = [];
  for (let offset = sequenceBytes + 1; offset + lengthBytes <= record.length; ) {
    const start = offset + lengthBytes;
    offset = start + record.readUInt16BE(offset);
    changed.push({ key: new Uint8Array(record.subarray(start, offset)) });
  }
  return changed;
}
