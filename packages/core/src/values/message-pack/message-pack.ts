import { Packr, RESERVE_START_SPACE } from "msgpackr";
import { Buffer } from "#platform";
import { readMessagePack } from "./read-message-pack.js";

/** The size in bytes of the buffer in which values are packed. */
const chunkBytes = 0x2000;

/**
 * Standard MessagePack: objects are maps with string keys, bigints are 64-bit integers, dates are
 * timestamps, bytes are bin, and `undefined` is extension type 0 with one zero byte. It uses no
 * extension of msgpackr that other readers do not know.
 */
const packr = new Packr({
  useRecords: false,
  mapsAsObjects: true,
  variableMapSize: true,
  int64AsType: "bigint",
  // A stored record must not be reachable through a value that was read from it.
  copyBuffers: true,
});

export function packAfter(byte: number, value: unknown): Uint8Array {
  const bytes = packr.pack(value, RESERVE_START_SPACE + 1);
  bytes[0] = byte;
  // msgpackr's buffer has grown to fit a large value and does not shrink by itself.
  if (bytes.length > chunkBytes) packr.useBuffer(Buffer.allocUnsafeSlow(chunkBytes));
  return bytes;
}

/** Small items are copied here, because msgpackr caches one view per buffer that it reads. */
const scratch = new Uint8Array(0x1000);
const stretch = { start: 0, end: 0 };

/**
 * Unpacks the one MessagePack item in `bytes[start, end)`. Its byte strings are copies.
 *
 * @param wanted the properties to read if the item is a map. Others may be left out.
 */
export function unpack(
  bytes: Uint8Array,
  start: number,
  end: number = bytes.length,
  wanted?: ReadonlySet<string>,
): unknown {
  try {
    return readMessagePack(bytes, start, end, wanted);
  } catch {
    return unpackAny(bytes.subarray(start, end), 0);
  }
}

/** Unpacks items that encoding does not write, and decides what is wrong with damaged bytes. */
export function unpackAny(bytes: Uint8Array, start: number): unknown {
  stretch.start = start;
  stretch.end = bytes.length;
  if (bytes.length > scratch.length) {
    // Passes a new array, because msgpackr would attach its view to `bytes`.
    const { buffer, byteOffset, length } = bytes;
    return packr.unpack(new Uint8Array(buffer, byteOffset, length), stretch);
  }
  scratch.set(bytes);
  return packr.unpack(scratch, stretch);
}
