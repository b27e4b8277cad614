const hexOfByte: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0"),
);

/** Lower-case hexadecimal digits of `bytes[start, end)`, two a byte. */
export function bytesToHex(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  let hex = "";
  for (let i = start; i < end; i++) hex += hexOfByte[bytes[i]!]!;
  return hex;
}

/** Writes the bytes of lower-case hexadecimal digits at `offset` of `target`. The caller has checked the digits. */
export function writeHex(hex: string, target: Uint8Array, offset: number): void {
  for (let i = 0; i < hex.length; i += 2) {
    target[offset + (i >> 1)] = (nibble(hex.charCodeAt(i)) << 4) | nibble(hex.charCodeAt(i + 1));
  }
}

function nibble(charCode: number): number {
  return charCode < 0x3a ? charCode - 0x30 : charCode - 0x57;
}
