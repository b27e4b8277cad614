import { compareBytes } from "../bytes/compare-bytes.js";
import { encodeKey } from "./encode-key.js";
import type { KvKey } from "./key.js";

/**
 * Compares two keys. Returns a negative number if `a` comes first, 0 if the keys are the same, and
 * a positive number otherwise.
 *
 * Parts are compared one by one, first by type (`Uint8Array < string < number < bigint < boolean`),
 * then by value. Bytes and the UTF-8 of strings compare as unsigned bytes. Numbers sort as -NaN,
 * -Infinity … -0, 0 … Infinity, NaN. Bigints sort by value, and false sorts before true. A key
 * comes before the keys that extend it.
 *
 * @throws {InvalidKeyError} if {@link encodeKey} throws it for one of the keys.
 */
export function compareKeys(a: KvKey, b: KvKey): number {
  return compareBytes(encodeKey(a), encodeKey(b));
}
