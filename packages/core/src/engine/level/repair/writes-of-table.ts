import { crc32c } from "../../../bytes/crc32c.js";
import type { FileDamage } from "../../files/file-report.js";
import { isMaskedChecksum } from "../files/masked-checksum.js";
import {
  type BlockHandle,
  blockEntries,
  blockTrailerBytes,
  isIntactBlock,
} from "../files/table-block.js";
import { readTableBlocks, type TableBounds } from "../files/table-damage.js";
import { isIntactWrite, type StoredWrite } from "./stored-write.js";

const deletion = 0;
const put = 1;

/** What can be read of a file of a database. */
export interface ReadableWrites {
  readonly writes: readonly StoredWrite[];
  /** The places whose writes cannot be read. */
  readonly damages: readonly FileDamage[];
}

/**
 * Reads the writes in all intact blocks of a table. If the index of the table is damaged, its
 * blocks are read one after the other, up to the first one that is damaged.
 *
 * @param bounds the size and the keys that the manifest states, if it is intact.
 */
export function writesOfTable(
  file: string,
  table: Uint8Array,
  bounds?: TableBounds,
): ReadableWrites {
  const { blocks, damages } = readTableBlocks(file, table, bounds);
  if (blocks === undefined) return writesWithoutIndex(table, damages);
  const writes: StoredWrite[] = [];
  const others: FileDamage[] = [];
  for (const block of blocks) {
    if (!isIntactBlock(table, block)) continue;
    const found = writesOfBlock(table, block);
    writes.push(...found.filter(isIntactWrite));
    others.push(...damagedRecords(file, block, found));
  }
  return { writes, damages: [...damages, ...others] };
}

/** Only values that were damaged before LevelDB had stored them have a wrong checksum here. */
function damagedRecords(
  file: string,
  { offset }: BlockHandle,
  writes: readonly StoredWrite[],
): FileDamage[] {
  const damaged = writes.filter((write) => !isIntactWrite(write));
  if (damaged.length === 0) return [];
  const reason = "a record does not match its checksum";
  return [{ file, offset, reason, firstKey: damaged[0]!.key, lastKey: damaged.at(-1)!.key }];
}

function writesWithoutIndex(table: Uint8Array, [damage]: readonly FileDamage[]): ReadableWrites {
  const writes: StoredWrite[] = [];
  for (let offset = 0; ; ) {
    const block = blockAt(table, offset);
    if (block === undefined) break;
    const found = writesOfBlock(table, block);
    // The index is a block too. Its values are places of blocks, without a checksum.
    if (!found.every(isIntactWrite)) break;
    writes.push(...found);
    offset += block.size + blockTrailerBytes;
  }
  const firstKey = writes.at(-1)?.key ?? damage!.firstKey;
  return { writes, damages: [{ ...damage!, firstKey }] };
}

/** Finds the end of the block that begins at a position. Its checksum is the first that matches. */
function blockAt(table: Uint8Array, offset: number): BlockHandle | undefined {
  let crc = 0;
  for (let end = offset; end + blockTrailerBytes <= table.length; end++) {
    crc = crc32c(table, end, end + 1, crc);
    const type = table[end]!;
    if ((type === 0 || type === 1) && isMaskedChecksum(table, end + 1, crc))
      return { offset, size: end - offset };
  }
  return undefined;
}

/** Returns no writes if the block is malformed, such as one that holds a filter. */
function writesOfBlock(table: Uint8Array, block: BlockHandle): StoredWrite[] {
  try {
    return Array.from(blockEntries(table, block)).flatMap(({ key, value, trailer }) => {
      const type = trailer[0];
      if (trailer.length < 8 || (type !== deletion && type !== put)) return [];
      const sequence = sequenceOf(trailer);
      return [{ key, sequence, value: type === put ? value : undefined }];
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [];
  }
}

function sequenceOf(trailer: Uint8Array): number {
  return trailer.subarray(1).reduceRight((number, byte) => number * 256 + byte, 0);
}
