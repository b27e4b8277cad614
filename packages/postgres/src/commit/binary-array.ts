import { Buffer } from "node:buffer";

/** The object ids of PostgreSQL's types. */
const typeIds = { int4: 23, int8: 20, bytea: 17 } as const;

/**
 * Returns an array as a parameter in PostgreSQL's binary format, which is shorter than text and
 * faster to read: dimensions, a flag for nulls, the type, the length, the lower bound, and each
 * element after its length.
 */
export function binaryArray(
  type: keyof typeof typeIds,
  elements: readonly (Uint8Array | number | null)[],
): Buffer {
  if (elements.length === 0) return header(type, 0, 12);
  let size = 20 + 4 * elements.length;
  for (const element of elements) size += sizeOf(type, element);
  const array = header(type, 1, size);
  array.writeInt32BE(elements.length, 12);
  array.writeInt32BE(1, 16);
  let offset = 20;
  for (const element of elements) {
    const length = sizeOf(type, element);
    offset = array.writeInt32BE(element === null ? -1 : length, offset);
    if (element === null) continue;
    if (typeof element !== "number") array.set(element, offset);
    else if (type === "int4") array.writeInt32BE(element, offset);
    else array.writeBigInt64BE(BigInt(element), offset);
    offset += length;
  }
  return array;
}

function header(type: keyof typeof typeIds, dimensions: number, size: number): Buffer {
  const array = Buffer.allocUnsafe(size);
  array.writeInt32BE(dimensions, 0);
  array.writeInt32BE(dimensions, 4);
  array.writeInt32BE(typeIds[type], 8);
  return array;
}

function sizeOf(type: keyof typeof typeIds, element: Uint8Array | number | null): number {
  if (element === null) return 0;
  if (typeof element !== "number") return element.length;
  return type === "int4" ? 4 : 8;
}
