/** The first byte of an encoded value. It determines the format of the rest. */
export const valueFormat = {
  /** One MessagePack item: plain data, in which nothing is referenced twice. */
  plain: 0x01,
  /** One MessagePack item: a list of nodes that refer to each other. All other values use it. */
  graph: 0x02,
  /** A `KvU64`: eight bytes, little-endian. */
  u64: 0x03,
} as const;
