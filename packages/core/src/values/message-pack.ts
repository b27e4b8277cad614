import { Buffer } from "node:buffer";
import { Packr, RESERVE_START_SPACE } from "msgpackr";

/** Bytes of the memory in which values are packed one after another. */
const chunkBytes = 0x2000;

/**
 * Standard MessagePack: objects as maps with string keys, bigints as 64-bit integers, dates as timestamps, bytes as
 * bin, and `undefined` as the extension type 0 with one zero byte. No extension of msgpackr's own that another reader
 * would not know.
 */
const packr = new Packr({
  useRecords: false,
  mapsAsObjects: true,
  variableMapSize: true,
  int64AsType: "bigint",
  // A stored record must not be reachable through a value that was read from it.
  copyBuffers: true,
});

/** Packs plain data, what {@link isPlain} accepts, behind one byte of the caller's. */
export function packBehind(byte: number, value: unknown): Uint8Array {
  const bytes = packr.pack(value, RESERVE_START_SPACE + 1);
  bytes[0] = byte;
  // The memory has grown with a large value, and would not shrink again.
  if (bytes.length > chunkBytes) packr.useBuffer(Buffer.allocUnsafeSlow(chunkBytes));
  return bytes;
}

/**
 * Where small items are copied to be unpacked: msgpackr makes a view of each memory that it reads from, and keeps it for
 * the next time.
 */
const scratch = new Uint8Array(0x1000);
const stretch = { start: 0, end: 0 };

/** Unpacks the one MessagePack item that stands in `bytes` from `start` on. Its byte strings are copies. */
export function unpack(bytes: Uint8Array, start: number): unknown {
  stretch.start = start;
  stretch.end = bytes.length;
  if (bytes.length > scratch.length) {
    // Not `bytes` itself, on which msgpackr would leave its view.
    const { buffer, byteOffset, length } = bytes;
    return packr.unpack(new Uint8Array(buffer, byteOffset, length), stretch);
  }
  scratch.set(bytes);
  return packr.unpack(scratch, stretch);
}
