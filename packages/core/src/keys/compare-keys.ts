import { compareBytes } from "../bytes/compare-bytes.js";
import { encodeKey } from "./encode-key.js";
import type { KvKey } from "./key.js";

/**
 * Compares two keys: negative where `a` comes first, 0 where they are the same key, positive otherwise.
 *
 * Part by part, first by type, `Uint8Array < string < number < bigint < boolean`, then by value: bytes and the UTF-8
 * of strings as unsigned bytes, numbers from -NaN, -Infinity … -0, 0 … to Infinity, NaN, bigints by size, false before
 * true. A key comes before the keys that extend it.
 *
 * @throws {InvalidKeyError} as {@link encodeKey}.
 */
export function compareKeys(a: KvKey, b: KvKey): number {
  return compareBytes(encodeKey(a), encodeKey(b));
}
