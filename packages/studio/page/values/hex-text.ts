export function hexText(bytes: Uint8Array, most = Number.POSITIVE_INFINITY): string {
  const shown = bytes.length > most ? bytes.subarray(0, most) : bytes;
  const digits = Array.from(shown, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return shown.length < bytes.length ? `${digits}…` : digits;
}

/** Returns bytes that are written as hexadecimal digits. */
export function bytesIn(text: string): Uint8Array {
  const digits = text.replace(/[\s:]/g, "");
  if (!/^([0-9a-f]{2})*$/i.test(digits)) throw new Error("Bytes are pairs of hex digits: 0aff.");
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
