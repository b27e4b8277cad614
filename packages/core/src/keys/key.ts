/** One part of a key. Parts sort by type in this order, then by value (see {@link compareKeys}). */
export type KvKeyPart = Uint8Array | string | number | bigint | boolean;

/** A sequence of parts, the most significant first. The key of an entry has at least one. */
export type KvKey = readonly KvKeyPart[];
