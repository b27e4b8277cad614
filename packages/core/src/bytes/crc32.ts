import { crc32 as zlibCrc32 } from "node:zlib";

/** CRC-32 (ISO-HDLC, as in zlib and PNG) of `bytes`, going on from the CRC of what came before: an unsigned integer. */
export function crc32(bytes: Uint8Array, previous = 0): number {
  return zlibCrc32(bytes, previous);
}
