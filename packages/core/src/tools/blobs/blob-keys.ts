import type { KvKey } from "../../keys/key.js";

/** Where the parts of blobs are stored. */
export class BlobKeys {
  readonly #prefix: KvKey;

  constructor(prefix: KvKey) {
    this.#prefix = prefix;
  }

  /** The prefix of all heads. */
  get heads(): KvKey {
    return [...this.#prefix, "head"];
  }

  /** The head of a blob says which data it has. */
  head(key: KvKey): KvKey {
    return [...this.heads, ...key];
  }

  /** The prefix of the chunks of some data. */
  chunks(id: string): KvKey {
    return [...this.#prefix, "chunk", id];
  }

  chunk(id: string, index: number): KvKey {
    return [...this.chunks(id), index];
  }

  /** The prefix of all marks. */
  get marks(): KvKey {
    return [...this.#prefix, "mark"];
  }

  /** The mark of data that is not yet, or no longer, that of a blob. */
  mark(id: string): KvKey {
    return [...this.marks, id];
  }
}

/** The value of a head. */
export interface BlobHead {
  readonly id: string;
  /** Bytes. */
  readonly size: number;
  /** The size of all chunks but the last, in bytes. */
  readonly chunkBytes: number;
  readonly type?: string;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}
