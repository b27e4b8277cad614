import { Buffer } from "node:buffer";
import { CorruptionError } from "@keywright/core";
import { hasValidChecksum, writeChecksum } from "@keywright/core/engine";
import { sequenceKey } from "./head.js";

/** The keys that a group of commits has changed. */
export interface ChangedKeys {
  /** Those that count as changes for range checks. */
  readonly counted: readonly Uint8Array[];
  /** The database's own keys, and those of entries that were removed because they had expired. */
  readonly others: readonly Uint8Array[];
}

/** The keys of a larger group are not stored, so other processes do not learn which they are. */
const mostBytes = 1024 * 1024;
/** Not empty, because some drivers store empty bytes as null. */
export const unknownKeys: Uint8Array = Uint8Array.of(0);
const checksumBytes = 4;
const lengthBytes = 4;

/**
 * Encodes the column `keys` of a row of `commits`: the number of counted keys in 4 bytes, then each
 * key after its length in 4 bytes, and a checksum. It is one byte if the keys are too many.
 */
export function encodeChangedKeys(sequence: number, { counted, others }: ChangedKeys): Uint8Array {
  const all = [counted, others];
  let size = lengthBytes + checksumBytes;
  for (const keys of all) for (const key of keys) size += lengthBytes + key.length;
  if (size > mostBytes) return unknownKeys;
  const value = Buffer.allocUnsafe(size);
  let offset = value.writeUInt32BE(counted.length);
  for (const keys of all)
    for (const key of keys) {
      offset = value.writeUInt32BE(key.length, offset);
      value.set(key, offset);
      offset += key.length;
    }
  writeChecksum(sequenceKey(sequence), value);
  return value;
}

/**
 * Returns undefined if the keys were not stored.
 *
 * @throws {CorruptionError} if they are damaged.
 */
export function decodeChangedKeys(sequence: number, stored: Uint8Array): ChangedKeys | undefined {
  if (stored.length === unknownKeys.length) return undefined;
  if (!hasValidChecksum(sequenceKey(sequence), stored))
    throw new CorruptionError("the record of a commit does not match its checksum");
  const value = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  const count = value.readUInt32BE(0);
  const end = value.length - checksumBytes;
  const keys: Uint8Array[] = [];
  for (let offset = lengthBytes; offset < end; ) {
    const start = offset + lengthBytes;
    offset = start + value.readUInt32BE(offset);
    keys.push(value.subarray(start, offset));
  }
  return { counted: keys.slice(0, count), others: keys.slice(count) };
}
