import { crc32c } from "../../../bytes/crc32c.js";

const maskDelta = 0xa282ead8;

/**
 * True if the four bytes at `position` are the masked CRC-32C of `bytes[start, end)`. LevelDB masks
 * its checksums, because the CRC of bytes that contain a CRC of their own would be weak.
 */
export function hasMaskedChecksum(
  bytes: Uint8Array,
  position: number,
  start: number,
  end: number,
): boolean {
  return isMaskedChecksum(bytes, position, crc32c(bytes, start, end));
}

/** True if the four bytes at `position` are this CRC-32C, masked. */
export function isMaskedChecksum(bytes: Uint8Array, position: number, crc: number): boolean {
  const masked = (((crc >>> 15) | (crc << 17)) + maskDelta) >>> 0;
  return readUint32(bytes, position) === masked;
}

/** Reads an unsigned integer of four bytes, little-endian. */
export function readUint32(bytes: Uint8Array, position: number): number {
  return (
    (bytes[position]! |
      (bytes[position + 1]! << 8) |
      (bytes[position + 2]! << 16) |
      (bytes[position + 3]! << 24)) >>>
    0
  );
}
