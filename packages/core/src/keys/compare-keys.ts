import { compareBytes } from "../bytes/compare-bytes.js";
import { encodeKey } from "./encode-key.js";
import type { KvKey } from "./key.js";
import { type KeyOrder, specificationOrder } from "./key-order.js";

/**
 * Compares two keys. Returns a negative number if `a` comes first, 0 if the keys are the same, and
 * a positive number otherwise.
 *
 * Parts are compared one by one, first by type (`Uint8Array < string < number < bigint < boolean`),
 * then by value. Bytes and the UTF-8 of strings compare as unsigned bytes. Numbers sort as -NaN,
 * -Infinity … -0, 0 … Infinity, NaN. Bigints sort by value, and false sorts before true. A key
 * comes before the keys that extend it.
 *
 * @param order the order of the keys of a database. The default is the one of the specification.
 *
 * @throws {InvalidKeyError} if {@link encodeKey} throws it for one of the keys.
 */
export function compareKeys(a: KvKey, b: KvKey, order: KeyOrder = specificationOrder): number {
  return compareBytes(encodeKey(a, order), encodeKey(b, order));
}
