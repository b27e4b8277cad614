import { ByteReader } from "./byte-reader.js";
import { hasMaskedChecksum, readUint32 } from "./masked-checksum.js";
import { uncompressSnappy } from "./uncompress-snappy.js";

/** The place of a block in a table file. Its type byte and checksum follow `size` bytes. */
export interface BlockHandle {
  readonly offset: number;
  readonly size: number;
}

/** The type byte and the checksum after each block. */
export const blockTrailerBytes = 5;

/** The bytes after each key of a table: a sequence number and the type of the write. */
const keyTrailerBytes = 8;

/** The content of a block, whose entries are in the order of their keys. */
export interface BlockContent {
  readonly values: readonly Uint8Array[];
  /** The keys at both ends, without the sequence numbers that LevelDB appends to them. */
  readonly firstKey: Uint8Array | undefined;
  readonly lastKey: Uint8Array | undefined;
}

export function readHandle(reader: ByteReader): BlockHandle {
  return { offset: reader.varint(), size: reader.varint() };
}

/** True if the block lies within the table and matches its checksum. */
export function isIntactBlock(table: Uint8Array, { offset, size }: BlockHandle): boolean {
  const end = offset + size + 1;
  return end + 4 <= table.length && hasMaskedChecksum(table, end, offset, end);
}

/**
 * Returns the content of an intact block. Keys share prefixes with the keys before them. The block
 * ends with the offsets of keys that do not, and their number.
 *
 * @throws {RangeError} if the block is malformed.
 */
export function readBlock(table: Uint8Array, { offset, size }: BlockHandle): BlockContent {
  const stored = table.subarray(offset, offset + size);
  const type = table[offset + size];
  if (type !== 0 && type !== 1) throw new RangeError("a block has an unknown type");
  const block = type === 0 ? stored : uncompressSnappy(stored);
  const end = block.length - 4 - 4 * readUint32(block, block.length - 4);
  const reader = new ByteReader(block, 0, end);
  const values: Uint8Array[] = [];
  // Each key replaces the one before it, because together they may be much longer than the block.
  const key = new Uint8Array(block.length);
  let keyBytes = 0;
  const userKey = () => key.slice(0, Math.max(0, keyBytes - keyTrailerBytes));
  let firstKey: Uint8Array | undefined;
  while (!reader.isAtEnd) {
    const shared = reader.varint();
    const added = reader.varint();
    const valueBytes = reader.varint();
    if (shared > keyBytes) throw new RangeError("a key shares more than the key before it has");
    key.set(reader.bytes(added), shared);
    keyBytes = shared + added;
    firstKey ??= userKey();
    values.push(reader.bytes(valueBytes));
  }
  return { values, firstKey, lastKey: firstKey && userKey() };
}

/** Reads an index or metaindex block, whose values are the places of blocks. */
export function readHandlesOf(table: Uint8Array, handle: BlockHandle): BlockHandle[] {
  return readBlock(table, handle).values.map((value) => readHandle(new ByteReader(value)));
}
