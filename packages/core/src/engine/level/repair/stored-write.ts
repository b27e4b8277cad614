import { compareBytes } from "../../../bytes/compare-bytes.js";
import { hasValidChecksum } from "../record.js";
import { lastKey } from "../reserved-keys.js";

/** A write that is stored in a file of LevelDB. */
export interface StoredWrite {
  readonly key: Uint8Array;
  /** Undefined if the write deletes the key. */
  readonly value: Uint8Array | undefined;
  /** The order of the write among all writes of the database. */
  readonly sequence: number;
}

/** True if a write deletes its key, or stores a value that matches its own checksum. */
export function isIntactWrite({ key, value }: StoredWrite): boolean {
  return value === undefined || isLastKey(key) || hasValidChecksum(key, value);
}

/** The last key has an empty value, without a checksum. */
function isLastKey(key: Uint8Array): boolean {
  return compareBytes(key, lastKey) === 0;
}
