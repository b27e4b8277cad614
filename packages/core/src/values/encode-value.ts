import { encodeGraph } from "./graph/encode-graph.js";
import { isPlain } from "./is-plain.js";
import { bigintOfU64, KvU64 } from "./kv-u64.js";
import { packAfter } from "./message-pack/message-pack.js";

/** The first byte of an encoded value. It determines the format of the rest. */
export const valueFormat = {
  /** One MessagePack item: plain data, in which nothing is referenced twice. */
  plain: 0x01,
  /** One MessagePack item: a list of nodes that refer to each other. All other values use it. */
  graph: 0x02,
  /** A `KvU64`: eight bytes, little-endian. */
  u64: 0x03,
} as const;

/**
 * Encodes a value: a format byte, then the value in that format. Plain data is stored as
 * MessagePack. Values that MessagePack cannot represent (cycles, Map, Set, -0, …) are stored as a
 * graph of nodes. `docs/internals/value-encoding.md` describes the formats. Golden vectors freeze
 * them.
 *
 * @throws {UnsupportedValueError} if a part of the value cannot be stored. The error has the path
 * to the part.
 */
export function encodeValue(value: unknown): Uint8Array {
  if (isPlain(value)) return packAfter(valueFormat.plain, value);
  const number = bigintOfU64(value);
  return number === undefined
    ? packAfter(valueFormat.graph, encodeGraph(value))
    : encodeU64(new KvU64(number));
}

function encodeU64(value: KvU64): Uint8Array {
  const bytes = new Uint8Array(9);
  bytes[0] = valueFormat.u64;
  new DataView(bytes.buffer).setBigUint64(1, value.value, true);
  return bytes;
}
