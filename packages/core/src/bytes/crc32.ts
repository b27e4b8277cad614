import { nativeCrc32, version } from "#platform";
import { UnsupportedRuntimeError } from "../errors/core-errors.js";

// `zlib.crc32` is the newest function that this package calls. It exists since Node.js 20.15.
if (nativeCrc32 === undefined) throw new UnsupportedRuntimeError(version);

/** From about this many bytes, one call of zlib is faster than the loop below. */
const longInput = 256;

/**
 * Returns the CRC-32 (ISO-HDLC, as in zlib and PNG) of `bytes[start, end)` as an unsigned integer.
 *
 * @param previous the CRC of the bytes before these, if it is continued.
 */
export function crc32(
  bytes: Uint8Array,
  start = 0,
  end: number = bytes.length,
  previous = 0,
): number {
  return nativeCrc32 === null || nativeCrc32 === undefined || end - start < longInput
    ? shortCrc32(bytes, start, end, previous)
    : nativeCrc32(bytes.subarray(start, end), previous);
}

/** The effect of each byte on a CRC. In `table1` to `table3`, one to three bytes follow it. */
const table0 = tableOfBytes();
const table1 = nextTable(table0);
const table2 = nextTable(table1);
const table3 = nextTable(table2);

/** Processes four bytes at a time ("slicing by 4"). */
function shortCrc32(bytes: Uint8Array, start: number, end: number, previous: number): number {
  let crc = ~previous;
  let i = start;
  for (; i + 4 <= end; i += 4) {
    crc ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    crc =
      table3[crc & 0xff]! ^
      table2[(crc >>> 8) & 0xff]! ^
      table1[(crc >>> 16) & 0xff]! ^
      table0[crc >>> 24]!;
  }
  for (; i < end; i++) crc = table0[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

function tableOfBytes(): Int32Array {
  const table = new Int32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    table[byte] = crc;
  }
  return table;
}

/** Derives the table for n + 1 following bytes from the table for n. */
function nextTable(table: Int32Array): Int32Array {
  return table.map((crc) => table0[crc & 0xff]! ^ (crc >>> 8));
}
