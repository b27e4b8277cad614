const hexOfByte: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0"),
);

/** Returns `bytes[start, end)` as lower-case hexadecimal, two digits per byte. */
export function bytesToHex(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  let hex = "";
  for (let i = start; i < end; i++) hex += hexOfByte[bytes[i]!]!;
  return hex;
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
