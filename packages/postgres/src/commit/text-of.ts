import { Buffer } from "node:buffer";

/** Returns bytes as a key of a `Map`. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
