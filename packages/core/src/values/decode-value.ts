import { MalformedValueError } from "../errors/core-errors.js";
import { decodeGraph } from "./decode-graph.js";
import { KvU64 } from "./kv-u64.js";
import { unpack } from "./message-pack.js";
import { valueFormat } from "./value-format.js";
import type { ValueGraph } from "./value-graph.js";

/**
 * Decodes what {@link encodeValue} wrote. The value shares no memory with the bytes.
 *
 * @throws {MalformedValueError} for bytes of an unknown format, or that are not one whole item of their format.
 */
export function decodeValue(bytes: Uint8Array): unknown {
  try {
    // Not `subarray`: of a Node.js Buffer it makes a Buffer, whose `slice` shares memory.
    const body = new Uint8Array(bytes.buffer, bytes.byteOffset + 1, bytes.length - 1);
    switch (bytes[0]) {
      case valueFormat.plain:
        return unpack(body);
      case valueFormat.graph:
        return decodeGraph(unpack(body) as ValueGraph);
      case valueFormat.u64:
        return decodeU64(body);
      default:
        throw new TypeError("unknown format");
    }
  } catch (cause) {
    throw new MalformedValueError(`format ${bytes[0] ?? "missing"}, ${bytes.length} bytes`, cause);
  }
}

function decodeU64(body: Uint8Array): KvU64 {
  if (body.length !== 8) throw new TypeError("a 64-bit integer has eight bytes");
  return new KvU64(new DataView(body.buffer, body.byteOffset).getBigUint64(0, true));
}
