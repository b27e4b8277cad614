import type { KvKey, KvKeyPart } from "./key.js";
import type { KeyOrder } from "./key-order.js";
import { keyTag } from "./key-tags.js";

/**
 * Encodes a key if its parts are strings of ASCII characters other than NUL, numbers and booleans,
 * as in most keys. Returns undefined for every other key. The size of such a key is known in
 * advance, so its bytes are written directly to their final place.
 *
 * @param allocate returns new bytes, all of them zero.
 */
export function encodePlainKey(
  key: KvKey,
  order: KeyOrder,
  allocate: (size: number) => Uint8Array,
): Uint8Array | undefined {
  let size = 0;
  for (let i = 0; i < key.length; i++) {
    const partSize = sizeOfPart(key[i]!);
    if (partSize === undefined) return undefined;
    size += partSize;
  }
  const bytes = allocate(size);
  let offset = 0;
  for (let i = 0; i < key.length; i++) {
    const part = key[i]!;
    if (typeof part === "string") {
      bytes[offset++] = keyTag.string;
      for (let j = 0; j < part.length; j++) {
        const unit = part.charCodeAt(j);
        if (unit === 0 || unit >= 0x80) return undefined;
        bytes[offset++] = unit;
      }
      // New memory is zero, so the part already ends in `partEnd`.
      offset++;
    } else if (typeof part === "number") {
      writeNumberPart(part, order, bytes, offset);
      offset += numberPartBytes;
    } else if (typeof part === "boolean") {
      bytes[offset++] = part ? keyTag.true : keyTag.false;
    }
  }
  // A getter may return another part on the second read.
  return offset === size ? bytes : undefined;
}

function sizeOfPart(part: KvKeyPart): number | undefined {
  switch (typeof part) {
    case "string":
      return part.length + 2;
    case "number":
      return numberPartBytes;
    case "boolean":
      return 1;
    default:
      return undefined;
  }
}

export const numberPartBytes = 9;

const float = new DataView(new ArrayBuffer(8));

/**
 * Writes a number part at `offset` of `target`: its tag and the bits of the number, big-endian. If
 * the sign bit is 0, it is flipped. If it is 1, all bits are flipped. The bytes then sort as the
 * numbers do.
 */
export function writeNumberPart(
  value: number,
  order: KeyOrder,
  target: Uint8Array,
  offset: number,
): void {
  float.setFloat64(0, value);
  let high = float.getUint32(0);
  let low = float.getUint32(4);
  if (Number.isNaN(value)) {
    high = high >>> 31 === 1 ? 0xfff80000 : 0x7ff80000;
    low = 0;
  }
  if (high >>> 31 === 1) {
    high = ~high;
    low = ~low;
  } else {
    high ^= 0x80000000;
  }
  target[offset] = order.numberTag;
  writeUint32(high, target, offset + 1);
  writeUint32(low, target, offset + 5);
}

function writeUint32(value: number, target: Uint8Array, offset: number): void {
  target[offset] = value >>> 24;
  target[offset + 1] = value >>> 16;
  target[offset + 2] = value >>> 8;
  target[offset + 3] = value;
}
