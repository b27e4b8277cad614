/** The byte that begins an encoded value and says how the rest is to be read. */
export const valueFormat = {
  /** One MessagePack item: plain data, in which nothing is referenced twice. */
  plain: 0x01,
  /** One MessagePack item, a list of nodes that refer to each other: everything else. */
  graph: 0x02,
  /** A `KvU64`: eight bytes, little-endian. */
  u64: 0x03,
} as const;
