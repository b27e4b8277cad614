/**
 * The size of a page, in bytes. LMDB takes keys of up to half a page, less some bytes. With its
 * usual size, 4,096, they would be shorter than those of Deno KV, which have up to 2,048 bytes.
 */
export const pageSize = 8192;

/** The maximum size of a key that `lmdb` accepts with pages of this size, in bytes. */
export const maxKeyBytes = 4026;
