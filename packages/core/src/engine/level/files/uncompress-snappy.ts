import { ByteReader } from "./byte-reader.js";

/** Three bytes stand for at most 64. It keeps a wrong length from taking memory. */
const maxRatio = 22;

/**
 * Uncompresses bytes in the raw format of Snappy
 * (https://github.com/google/snappy/blob/main/format_description.txt).
 *
 * @throws {RangeError} if the bytes are malformed.
 */
export function uncompressSnappy(compressed: Uint8Array): Uint8Array {
  const reader = new ByteReader(compressed);
  const size = reader.varint();
  if (size > compressed.length * maxRatio) throw new RangeError("a block is too large");
  const output = new Uint8Array(size);
  let length = 0;
  while (!reader.isAtEnd) {
    const tag = reader.bytes(1)[0]!;
    const kind = tag & 3;
    if (kind === 0) {
      const literal = reader.bytes(literalLength(reader, tag >>> 2));
      if (length + literal.length > size) throw new RangeError("a literal is too long");
      output.set(literal, length);
      length += literal.length;
    } else {
      const copied = kind === 1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1;
      const offset =
        kind === 1
          ? ((tag >>> 5) << 8) | reader.bytes(1)[0]!
          : littleEndian(reader, kind === 2 ? 2 : 4);
      if (offset === 0 || offset > length || length + copied > size)
        throw new RangeError("a copy is out of range");
      // The source and the copy may overlap, which repeats the bytes between them.
      for (const end = length + copied; length < end; length++)
        output[length] = output[length - offset]!;
    }
  }
  if (length !== size) throw new RangeError("the bytes end too early");
  return output;
}

function literalLength(reader: ByteReader, code: number): number {
  return (code < 60 ? code : littleEndian(reader, code - 59)) + 1;
}

function littleEndian(reader: ByteReader, size: number): number {
  return reader.bytes(size).reduceRight((value, byte) => value * 256 + byte, 0);
}
