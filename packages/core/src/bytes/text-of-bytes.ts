import { Buffer } from "node:buffer";

/** A method that Node.js, Deno and Bun have, and the types do not know: it makes no Buffer of the bytes first. */
const { latin1Slice } = Buffer.prototype as unknown as {
  latin1Slice: (this: Uint8Array, start: number, end: number) => string;
};

/** A text that is the same for the same bytes, and for no others: to find bytes by in a map. */
export function textOfBytes(bytes: Uint8Array): string {
  return latin1Slice.call(bytes, 0, bytes.length);
}
