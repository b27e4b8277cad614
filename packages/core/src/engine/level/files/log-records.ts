import { hasMaskedChecksum } from "./masked-checksum.js";

const blockBytes = 32 * 1024;
const headerBytes = 7;
const full = 1;
const first = 2;
const last = 4;

/**
 * The maximum sequence number of a batch, which can have 2 ** 32 writes. LevelDB ends the process
 * if a number has more than 56 bits.
 */
export const maxBatchSequence: number = 2 ** 56 - 2 ** 32;

export interface LogRecords {
  /** The intact records before the damage, if there is any. */
  readonly records: readonly Uint8Array[];
  /**
   * Where the first record begins that is incomplete or does not match its checksum. Undefined if
   * the file ends with an intact record.
   */
  readonly damagedAt: number | undefined;
  /**
   * True if an intact record follows the damage. A process that is killed while it writes leaves
   * an incomplete record only at the very end.
   */
  readonly isFollowed: boolean;
}

/**
 * Reads the records of a log or manifest of LevelDB, whose format is that of
 * https://github.com/google/leveldb/blob/main/doc/log_format.md. Unlike LevelDB, it reports every
 * record that LevelDB would skip in silence.
 *
 * @param canFollow says if a record that begins with these bytes may have been written after the
 * last intact record. It is called for bytes after the damage, which would otherwise have to be
 * compared with a checksum at each position.
 */
export function readLogRecords(
  bytes: Uint8Array,
  canFollow: (record: Uint8Array, last: Uint8Array | undefined) => boolean = () => true,
): LogRecords {
  const records: Uint8Array[] = [];
  let parts: Uint8Array[] = [];
  let begin = 0;
  for (let position = 0; position < bytes.length; ) {
    const left = blockBytes - (position % blockBytes);
    if (left < headerBytes) {
      position += left;
      continue;
    }
    const part = intactPart(bytes, position);
    if (part === undefined) return damage(parts.length > 0 ? begin : position, position + 1);
    const continues = part.type !== full && part.type !== first;
    if (continues !== parts.length > 0) return damage(begin, position);
    if (!continues) begin = position;
    parts.push(part.bytes);
    if (part.type === full || part.type === last) {
      records.push(joined(parts));
      parts = [];
      begin = position + headerBytes + part.bytes.length;
    }
    position += headerBytes + part.bytes.length;
  }
  if (parts.length > 0) return { records, damagedAt: begin, isFollowed: false };
  return { records, damagedAt: undefined, isFollowed: false };

  function damage(damagedAt: number, from: number): LogRecords {
    const canBegin = (record: Uint8Array) => canFollow(record, records.at(-1));
    return { records, damagedAt, isFollowed: hasRecord(bytes, from, canBegin) };
  }
}

export interface Part {
  readonly type: number;
  readonly bytes: Uint8Array;
}

/** Returns the whole or partial record at a position, if it is intact. */
export function intactPart(bytes: Uint8Array, position: number): Part | undefined {
  const blockEnd = position - (position % blockBytes) + blockBytes;
  if (position + headerBytes > Math.min(blockEnd, bytes.length)) return undefined;
  const length = bytes[position + 4]! | (bytes[position + 5]! << 8);
  const type = bytes[position + 6]!;
  const start = position + headerBytes;
  const end = start + length;
  if (type < full || type > last || end > Math.min(blockEnd, bytes.length)) return undefined;
  if (!hasMaskedChecksum(bytes, position, start - 1, end)) return undefined;
  return { type, bytes: bytes.subarray(start, end) };
}

/** True if an intact record begins anywhere from a position on. */
function hasRecord(
  bytes: Uint8Array,
  from: number,
  canBegin: (record: Uint8Array) => boolean,
): boolean {
  for (let position = from; position + headerBytes <= bytes.length; position++) {
    const type = bytes[position + 6];
    if (type !== full && type !== first) continue;
    if (!canBegin(bytes.subarray(position + headerBytes))) continue;
    if (intactPart(bytes, position) !== undefined) return true;
  }
  return false;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const record = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let position = 0;
  for (const part of parts) {
    record.set(part, position);
    position += part.length;
  }
  return record;
}
