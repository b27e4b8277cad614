export const hexOfByte: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0"),
);

/** Returns `bytes[start, end)` as lower-case hexadecimal, two digits per byte. */
export function bytesToHex(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  let hex = "";
  for (let i = start; i < end; i++) hex += hexOfByte[bytes[i]!]!;
  return hex;
}
