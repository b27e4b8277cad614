import type { Buffer } from "node:buffer";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The text that `bytes[start, end)` are the UTF-8 of, with a byte order mark where there is one.
 *
 * @throws {TypeError} for bytes that are not UTF-8.
 */
export function decodeUtf8(bytes: Buffer, start: number, end: number): string {
  // Much quicker than a strict decoder for short texts.
  const text = bytes.toString("utf8", start, end);
  // This character stands for bytes that are not UTF-8, or for itself.
  return text.includes("\ufffd") ? strict.decode(bytes.subarray(start, end)) : text;
}
