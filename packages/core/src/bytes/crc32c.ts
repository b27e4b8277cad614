/**
 * `table0` has the effect of each byte on a CRC. In `table1` to `table7`, one to seven bytes follow
 * the byte.
 */
const table0 = tableOfBytes();
const table1 = nextTable(table0);
const table2 = nextTable(table1);
const table3 = nextTable(table2);
const table4 = nextTable(table3);
const table5 = nextTable(table4);
const table6 = nextTable(table5);
const table7 = nextTable(table6);

/**
 * Returns the CRC-32C (Castagnoli, as in iSCSI and LevelDB) of `bytes[start, end)` as an unsigned
 * integer. Processes eight bytes at a time ("slicing by 8").
 *
 * @param previous the CRC of the bytes before these, if it is continued.
 */
export function crc32c(
  bytes: Uint8Array,
  start = 0,
  end: number = bytes.length,
  previous = 0,
): number {
  let crc = ~previous;
  let i = start;
  for (; i + 8 <= end; i += 8) {
    crc ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    crc =
      table7[crc & 0xff]! ^
      table6[(crc >>> 8) & 0xff]! ^
      table5[(crc >>> 16) & 0xff]! ^
      table4[crc >>> 24]! ^
      table3[bytes[i + 4]!]! ^
      table2[bytes[i + 5]!]! ^
      table1[bytes[i + 6]!]! ^
      table0[bytes[i + 7]!]!;
  }
  for (; i < end; i++) crc = table0[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

function tableOfBytes(): Int32Array {
  const table = new Int32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
    table[byte] = crc;
  }
  return table;
}

/** Derives the table for n + 1 following bytes from the table for n. */
function nextTable(table: Int32Array): Int32Array {
  return table.map((crc) => table0[crc & 0xff]! ^ (crc >>> 8));
}
