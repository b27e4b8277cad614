/** Compares bytes in the order of keys. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = a[i]! - b[i]!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Compares a part of bytes with others, in the order of keys. */
export function comparePart(
  bytes: Uint8Array,
  start: number,
  end: number,
  other: Uint8Array,
): number {
  const { length } = other;
  const size = Math.min(end - start, length);
  for (let i = 0; i < size; i++) {
    const difference = bytes[start + i]! - other[i]!;
    if (difference !== 0) return difference;
  }
  return end - start - length;
}

/** True if a part of bytes begins with others. */
export function partStartsWith(
  bytes: Uint8Array,
  start: number,
  end: number,
  other: Uint8Array,
): boolean {
  const { length } = other;
  if (end - start < length) return false;
  for (let i = 0; i < length; i++) if (bytes[start + i] !== other[i]) return false;
  return true;
}

/** Compares words in the order of their UTF-8 bytes, in which keys sort them. */
export function compareWords(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // A surrogate belongs to a code point above all that one unit of UTF-16 can hold.
    const isXHigh = x >= 0xd800 && x <= 0xdfff;
    const isYHigh = y >= 0xd800 && y <= 0xdfff;
    return isXHigh === isYHigh ? x - y : isXHigh ? 1 : -1;
  }
  return a.length - b.length;
}
