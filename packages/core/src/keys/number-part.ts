import type { KeyOrder } from "./key-order.js";

/** The size in bytes of a number part: its tag and the 64 bits of the number. */
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
