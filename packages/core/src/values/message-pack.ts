import { Packr, RESERVE_START_SPACE } from "msgpackr";

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
  return bytes;
}

/** Unpacks one MessagePack item. Its byte strings are copies. */
export function unpack(bytes: Uint8Array): unknown {
  return packr.unpack(bytes);
}
