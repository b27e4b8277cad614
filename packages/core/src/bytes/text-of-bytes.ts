import { Buffer } from "#platform";

/** Node.js, Deno and Bun have this method, but the types do not declare it. */
const { latin1Slice } = Buffer.prototype as unknown as {
  latin1Slice: (this: Uint8Array, start: number, end: number) => string;
};

/** Returns a text that is unique to these bytes, so that a map can use it as a key. */
export function textOfBytes(bytes: Uint8Array): string {
  return latin1Slice.call(bytes, 0, bytes.length);
}

/** Returns the text of `bytes[start, end)`, as {@link textOfBytes}. */
export function textOfRange(bytes: Uint8Array, start: number, end: number): string {
  return latin1Slice.call(bytes, start, end);
}
