import { encodeKey, type KvKey } from "@keywright/core";

const surrogate = /[\ud800-\udfff]/;

/**
 * Returns whether a database can store this key. It cannot if the encoded key is longer than
 * `keyBytes` bytes, or if a string is not well-formed. A row that was written by hand can have such
 * a key in an index, and then has no entry there.
 */
export function canBeStored(key: KvKey, keyBytes: number): boolean {
  if (maxBytesOf(key) <= keyBytes) return true;
  try {
    return encodeKey(key).length <= keyBytes;
  } catch {
    return false;
  }
}

/** Returns an upper bound of the encoded size. Infinity if only the encoding can tell. */
function maxBytesOf(key: KvKey): number {
  let bytes = 0;
  for (const part of key) {
    if (typeof part === "string") {
      if (surrogate.test(part)) return Number.POSITIVE_INFINITY;
      bytes += 3 * part.length + 2;
    } else if (typeof part === "object") bytes += 2 * part.length + 2;
    else if (typeof part === "bigint") return Number.POSITIVE_INFINITY;
    // A number takes nine bytes, a boolean takes one.
    else bytes += 9;
  }
  return bytes;
}
