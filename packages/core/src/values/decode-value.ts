import { MalformedValueError, UnreadableValueError } from "../errors/core-errors.js";
import { valueFormat } from "./encode-value.js";
import { decodeGraph } from "./graph/decode-graph.js";
import type { ValueGraph } from "./graph/value-graph.js";
import { KvU64 } from "./kv-u64.js";
import { unpack } from "./message-pack/message-pack.js";

/**
 * Decodes what {@link encodeValue} wrote. The value shares no memory with the bytes.
 *
 * @param wanted the properties that the caller needs if the value is an object. Others may be left
 * out, which saves the time to decode them. What is left out is not checked in every detail.
 * @throws {MalformedValueError} if the format is unknown, or if the bytes are not exactly one item
 * of it.
 * @throws {UnreadableValueError} if this runtime does not support a regular expression in the
 * value.
 */
export function decodeValue(bytes: Uint8Array, wanted?: ReadonlySet<string>): unknown {
  return decodeValueIn(bytes, 0, bytes.length, wanted);
}

/** Decodes the value in `bytes[start, end)` as {@link decodeValue} does. */
export function decodeValueIn(
  bytes: Uint8Array,
  start: number,
  end: number,
  wanted?: ReadonlySet<string>,
): unknown {
  const format = start < end ? bytes[start] : undefined;
  try {
    switch (format) {
      case valueFormat.plain:
        return unpack(bytes, start + 1, end, wanted);
      case valueFormat.graph:
        return decodeGraph(unpack(bytes, start + 1, end) as ValueGraph);
      case valueFormat.u64:
        return decodeU64(bytes, start, end);
      default:
        throw new TypeError("unknown format");
    }
  } catch (cause) {
    if (cause instanceof UnreadableValueError) throw cause;
    const size = `format ${format ?? "missing"}, length ${end - start}`;
    throw new MalformedValueError(`its bytes (${size}) are not one complete value`, cause);
  }
}

function decodeU64(bytes: Uint8Array, start: number, end: number): KvU64 {
  if (end - start !== 9) throw new TypeError("a 64-bit integer has eight bytes");
  return new KvU64(new DataView(bytes.buffer, bytes.byteOffset + start).getBigUint64(1, true));
}
