import type { Buffer } from "node:buffer";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes `bytes[start, end)` as UTF-8. Keeps a byte order mark.
 *
 * @throws {TypeError} if the bytes are not UTF-8.
 */
export function decodeUtf8(bytes: Buffer, start: number, end: number): string {
  // Much faster than a strict decoder for short texts.
  const text = bytes.toString("utf8", start, end);
  // U+FFFD replaces invalid bytes, but it may also be part of the text. The strict decoder decides.
  return text.includes("\ufffd") ? strict.decode(bytes.subarray(start, end)) : text;
}
