import { encodeKey, type KvKey } from "@keywright/core";

const surrogate = /[\ud800-\udfff]/;

/**
 * Whether a database can have this key: not where it is longer than so many bytes, or has text that is not well-formed. A row
 * that was written by hand may come to such a key in an index, and then has no entry there.
 */
export function canBeStored(key: KvKey, keyBytes: number): boolean {
  if (mostBytesOf(key) <= keyBytes) return true;
  try {
    return encodeKey(key).length <= keyBytes;
  } catch {
    return false;
  }
}

/** No fewer bytes than the key has, by what is plain to see of it; infinite where nothing is. */
function mostBytesOf(key: KvKey): number {
  let bytes = 0;
  for (const part of key) {
    if (typeof part === "string") {
      if (surrogate.test(part)) return Number.POSITIVE_INFINITY;
      bytes += 3 * part.length + 2;
    } else if (typeof part === "object") bytes += 2 * part.length + 2;
    else if (typeof part === "bigint") return Number.POSITIVE_INFINITY;
    // A number has nine bytes.
    else bytes += 9;
  }
  return bytes;
}
