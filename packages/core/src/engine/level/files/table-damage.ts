import type { FileDamage } from "../../files/file-report.js";
import { ByteReader } from "./byte-reader.js";
import {
  type BlockHandle,
  blockEntries,
  blockTrailerBytes,
  isIntactBlock,
  readHandle,
  readHandlesOf,
} from "./table-block.js";

const footerBytes = 48;
const magic = Uint8Array.of(0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb);

/** The keys of a table that its manifest states, and its size in bytes. */
export interface TableBounds {
  readonly size: number;
  readonly firstKey: Uint8Array;
  readonly lastKey: Uint8Array;
}

interface DamageOfBlocks extends BlockHandle {
  readonly before: BlockHandle | undefined;
  readonly after: BlockHandle | undefined;
}

/** The blocks of a table, and its damage apart from its filter, which only speeds up reads. */
export interface TableBlocks {
  /** The data blocks in the order of their keys. Undefined if the index is damaged. */
  readonly blocks: readonly BlockHandle[] | undefined;
  readonly metaindex: BlockHandle | undefined;
  readonly damages: readonly FileDamage[];
}

/**
 * Verifies every checksum in a table file of LevelDB, and returns what is damaged. The format is
 * that of https://github.com/google/leveldb/blob/main/doc/table_format.md. LevelDB itself does not
 * verify these checksums when it reads.
 */
export function tableDamage(file: string, table: Uint8Array, bounds?: TableBounds): FileDamage[] {
  const { metaindex, damages } = readTableBlocks(file, table, bounds);
  const { firstKey, lastKey } = bounds ?? {};
  if (metaindex === undefined) return [...damages];
  const reason = "its filter does not match its checksum";
  try {
    const others = [metaindex, ...filtersOf(table, metaindex)]
      .filter((handle) => !isIntactBlock(table, handle))
      .map(({ offset }) => ({ file, offset, reason, firstKey, lastKey }));
    return [...damages, ...others];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [...damages, { file, offset: metaindex.offset, reason, firstKey, lastKey }];
  }
}

/** Reads the index of a table, and verifies the checksums of its data blocks. */
export function readTableBlocks(
  file: string,
  table: Uint8Array,
  bounds?: TableBounds,
): TableBlocks {
  const { size = table.length, firstKey, lastKey } = bounds ?? {};
  const whole = (offset: number, reason: string): TableBlocks => {
    const damages = [{ file, offset, reason, firstKey, lastKey }];
    return { blocks: undefined, metaindex: undefined, damages };
  };
  if (table.length !== size)
    return whole(Math.min(table.length, size), `it has ${table.length} bytes instead of ${size}`);
  const footer = table.length - footerBytes;
  if (footer < 0 || !magic.every((byte, index) => table[table.length - 8 + index] === byte))
    return whole(Math.max(footer, 0), "its footer is damaged");
  try {
    const reader = new ByteReader(table, footer, table.length - magic.length);
    const metaindex = readHandle(reader);
    const index = readHandle(reader);
    if (index.offset + index.size + blockTrailerBytes !== footer || !isIntactBlock(table, index))
      return whole(Math.min(index.offset, footer), "its index does not match its checksum");
    const blocks = readHandlesOf(table, index);
    const damages = damagedBlocks(table, blocks).map((block) => ({
      file,
      offset: block.offset,
      reason: "a block does not match its checksum",
      firstKey: keyAtEnd(table, block.before, "last") ?? firstKey,
      lastKey: keyAtEnd(table, block.after, "first") ?? lastKey,
    }));
    return { blocks, metaindex, damages };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return whole(footer, "its index is malformed");
  }
}

/** Returns each run of damaged blocks, with the intact blocks before and after it. */
function damagedBlocks(table: Uint8Array, blocks: readonly BlockHandle[]): DamageOfBlocks[] {
  const runs: DamageOfBlocks[] = [];
  let first: BlockHandle | undefined;
  let before: BlockHandle | undefined;
  for (const block of blocks) {
    if (!isIntactBlock(table, block)) {
      first ??= block;
      continue;
    }
    if (first !== undefined) runs.push({ ...first, before, after: block });
    first = undefined;
    before = block;
  }
  if (first !== undefined) runs.push({ ...first, before, after: undefined });
  return runs;
}

function filtersOf(table: Uint8Array, metaindex: BlockHandle): BlockHandle[] {
  return isIntactBlock(table, metaindex) ? readHandlesOf(table, metaindex) : [];
}

function keyAtEnd(
  table: Uint8Array,
  block: BlockHandle | undefined,
  end: "first" | "last",
): Uint8Array | undefined {
  if (block === undefined) return undefined;
  let last: Uint8Array | undefined;
  for (const { key } of blockEntries(table, block)) {
    if (end === "first") return key;
    last = key;
  }
  return last;
}
