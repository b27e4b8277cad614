import { encodeKey } from "./encode-key.js";
import type { KvKey, KvKeyPart } from "./key.js";
import { type KeyOrder, specificationOrder } from "./key-order.js";
import { type KeyRange, rangeOfPrefix } from "./key-range.js";
import { zeroEscape } from "./key-tags.js";

/** The first parts that many keys have, and their bytes, with which encoded keys are compared. */
export class KeyPrefix {
  readonly parts: readonly KvKeyPart[];
  readonly bytes: Uint8Array;
  readonly order: KeyOrder;
  /** True if all keys may have the parts of the prefix, because none of them is mutable. */
  readonly isShared: boolean;

  /**
   * @param order the order of the database's keys.
   * @throws {InvalidKeyError} if {@link encodeKey} throws it for the parts.
   */
  constructor(parts: KvKey, order: KeyOrder = specificationOrder) {
    this.parts = [...parts];
    this.bytes = encodeKey(parts, order);
    this.order = order;
    this.isShared = parts.every(isShared);
  }

  /** The range of the encoded keys that have the prefix and at least one more part. */
  get range(): KeyRange {
    return rangeOfPrefix(this.bytes);
  }

  /**
   * Compares the encoded key `source[start, end)` with the keys that have the prefix: 0 if it has
   * the prefix too, negative if it sorts before them, positive if it sorts after them.
   */
  compare(source: Uint8Array, start: number, end: number): number {
    const { bytes } = this;
    const size = bytes.length;
    const shared = Math.min(size, end - start);
    for (let i = 0; i < shared; i++) {
      const difference = source[start + i]! - bytes[i]!;
      if (difference !== 0) return difference;
    }
    if (shared < size) return -1;
    // An escape after `"a"` continues the same part: `["a\0b"]` does not begin with `["a"]`.
    return start + size < end && source[start + size] === zeroEscape ? 1 : 0;
  }
}

/** True if a part of one key can be that of another: it is not mutable and has one encoding. */
export function isShared(part: KvKeyPart): boolean {
  return typeof part !== "object" && !Number.isNaN(part);
}
