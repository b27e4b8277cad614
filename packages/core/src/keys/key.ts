/** One part of a key. Parts sort by type in this order, then by value (see {@link compareKeys}). */
export type KvKeyPart = Uint8Array | string | number | bigint | boolean;

/**
 * A key: a sequence of parts, of which the first is the most significant. The key of an entry has
 * at least one part.
 */
export type KvKey = readonly KvKeyPart[];
