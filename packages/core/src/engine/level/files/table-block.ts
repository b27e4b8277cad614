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
 * Returns the entries of an intact block. Keys share prefixes with the keys before them. The block
 * ends with the offsets of keys that do not, and their number.
 *
 * @throws {RangeError} if the block is malformed.
 */
export function readBlock(table: Uint8Array, { offset, size }: BlockHandle): BlockEntry[] {
  const stored = table.subarray(offset, offset + size);
  const type = table[offset + size];
  if (type !== 0 && type !== 1) throw new RangeError("a block has an unknown type");
  const block = type === 0 ? stored : uncompressSnappy(stored);
  const end = block.length - 4 - 4 * readUint32(block, block.length - 4);
  const reader = new ByteReader(block, 0, end);
  const entries: BlockEntry[] = [];
  let last = new Uint8Array(0);
  while (!reader.isAtEnd) {
    const shared = reader.varint();
    const added = reader.varint();
    const valueBytes = reader.varint();
    const key = new Uint8Array(shared + added);
    key.set(last.subarray(0, shared));
    key.set(reader.bytes(added), shared);
    entries.push({
      key: key.subarray(0, -keyTrailerBytes),
      value: reader.bytes(valueBytes),
      trailer: key.subarray(-keyTrailerBytes),
    });
    last = key;
  }
  return entries;
}

/** As {@link readBlock}, for metaindex blocks, whose keys are names without a sequence number. */
export function readHandlesOfMetaindex(table: Uint8Array, handle: BlockHandle): BlockHandle[] {
  return readBlock(table, handle).map(({ value }) => readHandle(new ByteReader(value)));
}
