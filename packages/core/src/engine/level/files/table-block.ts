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

export interface BlockEntry {
  /** The key without the sequence number that LevelDB appends to it. */
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** The sequence number and the type of the write: eight bytes, little-endian, the type first. */
  readonly trailer: Uint8Array;
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
 * Walks over the entries of an intact block, in the order of their keys. Keys share prefixes with
 * the keys before them, so together they may be much longer than the block. The block ends with the
 * offsets of keys that share nothing, and their number.
 *
 * @throws {RangeError} if the block is malformed.
 */
export function* blockEntries(
  table: Uint8Array,
  { offset, size }: BlockHandle,
): Generator<BlockEntry> {
  const stored = table.subarray(offset, offset + size);
  const type = table[offset + size];
  if (type !== 0 && type !== 1) throw new RangeError("a block has an unknown type");
  const block = type === 0 ? stored : uncompressSnappy(stored);
  const end = block.length - 4 - 4 * readUint32(block, block.length - 4);
  const reader = new ByteReader(block, 0, end);
  const key = new Uint8Array(block.length);
  let keyBytes = 0;
  while (!reader.isAtEnd) {
    const shared = reader.varint();
    const added = reader.varint();
    const valueBytes = reader.varint();
    if (shared > keyBytes) throw new RangeError("a key shares more than the key before it has");
    key.set(reader.bytes(added), shared);
    keyBytes = shared + added;
    const userBytes = Math.max(0, keyBytes - keyTrailerBytes);
    const value = reader.bytes(valueBytes);
    yield { key: key.slice(0, userBytes), value, trailer: key.slice(userBytes, keyBytes) };
  }
}

/** Reads an index or metaindex block, whose values are the places of blocks. */
export function readHandlesOf(table: Uint8Array, handle: BlockHandle): BlockHandle[] {
  return Array.from(blockEntries(table, handle), ({ value }) => readHandle(new ByteReader(value)));
}
