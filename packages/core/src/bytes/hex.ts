const hexOfByte: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0"),
);

/** Returns `bytes[start, end)` as lower-case hexadecimal, two digits per byte. */
export function bytesToHex(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  let hex = "";
  for (let i = start; i < end; i++) hex += hexOfByte[bytes[i]!]!;
  return hex;
}

/** The character codes of the two digits of each byte. */
const digits = Uint8Array.from(hexOfByte.join(""), (digit) => digit.charCodeAt(0));

/**
 * Returns ten bytes as lower-case hexadecimal. One call that makes the whole string takes half the
 * time of joining ten.
 */
export function tenBytesToHex(bytes: Uint8Array, start: number): string {
  const d = digits;
  const at = (i: number): number => bytes[start + i]! * 2;
  const [a, b, c, e, f] = [at(0), at(1), at(2), at(3), at(4)];
  const [g, h, i, j, k] = [at(5), at(6), at(7), at(8), at(9)];
  // biome-ignore format: one byte after another
  return String.fromCharCode(
    d[a]!, d[a + 1]!, d[b]!, d[b + 1]!, d[c]!, d[c + 1]!, d[e]!, d[e + 1]!, d[f]!, d[f + 1]!,
    d[g]!, d[g + 1]!, d[h]!, d[h + 1]!, d[i]!, d[i + 1]!, d[j]!, d[j + 1]!, d[k]!, d[k + 1]!,
  );
}

/** Decodes lower-case hexadecimal digits into `target` at `offset`. Does not check the digits. */
export function writeHex(hex: string, target: Uint8Array, offset: number): void {
  for (let i = 0; i < hex.length; i += 2) {
    target[offset + (i >> 1)] = (nibble(hex.charCodeAt(i)) << 4) | nibble(hex.charCodeAt(i + 1));
  }
}

function nibble(charCode: number): number {
  return charCode < 0x3a ? charCode - 0x30 : charCode - 0x57;
}
