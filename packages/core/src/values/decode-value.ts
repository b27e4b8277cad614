import { MalformedValueError, UnreadableValueError } from "../errors/core-errors.js";
import { decodeGraph } from "./decode-graph.js";
import { valueFormat } from "./encode-value.js";
import { KvU64 } from "./kv-u64.js";
import { unpack } from "./message-pack.js";
import type { ValueGraph } from "./value-graph.js";

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
  try {
    switch (bytes[0]) {
      case valueFormat.plain:
        return unpack(bytes, 1, wanted);
      case valueFormat.graph:
        return decodeGraph(unpack(bytes, 1) as ValueGraph);
      case valueFormat.u64:
        return decodeU64(bytes);
      default:
        throw new TypeError("unknown format");
    }
  } catch (cause) {
    if (cause instanceof UnreadableValueError) throw cause;
    const size = `format ${bytes[0] ?? "missing"}, length ${bytes.length}`;
    throw new MalformedValueError(`its bytes (${size}) are not one complete value`, cause);
  }
}

function decodeU64(bytes: Uint8Array): KvU64 {
  if (bytes.length !== 9) throw new TypeError("a 64-bit integer has eight bytes");
  return new KvU64(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(1, true));
}
