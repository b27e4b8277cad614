// The whole module: an import of `crc32` alone is a syntax error where it does not exist.
import zlib from "node:zlib";
import { UnsupportedRuntimeError } from "../errors/core-errors.js";

// The newest function that this package calls. It exists since Node.js 20.15.
if (typeof zlib.crc32 !== "function") throw new UnsupportedRuntimeError(process.version);

/** From about this many bytes on a call of zlib is quicker than the loop here. */
const longInput = 256;

/**
 * CRC-32 (ISO-HDLC, as in zlib and PNG) of `bytes[0, end)`, going on from the CRC of what came before: an unsigned
 * integer.
 */
export function crc32(bytes: Uint8Array, previous = 0, end: number = bytes.length): number {
  return end < longInput
    ? shortCrc32(bytes, previous, end)
    : zlib.crc32(bytes.subarray(0, end), previous);
}

/** What each value of a byte does to a CRC, where no, one, two or three bytes come behind it. */
const table0 = tableOfBytes();
const table1 = tableBehind(table0);
const table2 = tableBehind(table1);
const table3 = tableBehind(table2);

/** Four bytes at a time ("slicing by 4"). */
function shortCrc32(bytes: Uint8Array, previous: number, end: number): number {
  let crc = ~previous;
  let i = 0;
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

/** The table for one byte more behind each. */
function tableBehind(table: Int32Array): Int32Array {
  return table.map((crc) => table0[crc & 0xff]! ^ (crc >>> 8));
}
