import { Buffer } from "node:buffer";

/** The row whose version is the last versionstamp. Each batch of commits locks it. */
export const headKey: Buffer = Buffer.of(0x00, 0x00);

/** The value of the head: the format of the table. */
export const tableFormat: Buffer = Buffer.from("keywright 1");

/*
 * Each batch has two more rows:
 *
 * - `00 01`, then its id of 16 bytes. The value is its answer.
 * - `00 02`, then its number in 8 bytes. The value is its id, then each changed key after its
 *   length in 4 bytes. After an empty key, the keys of removed expired entries follow.
 */
const logPrefix = Buffer.of(0x00, 0x02);

/** The end of the rows of batches, and the beginning of those of the database. */
export const endOfLog: Buffer = Buffer.of(0x00, 0x03);

export function logKey(sequence: number): Buffer {
  const key = Buffer.alloc(10);
  logPrefix.copy(key);
  key.writeBigUInt64BE(BigInt(sequence), 2);
  return key;
}
