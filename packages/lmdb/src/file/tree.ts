import { Buffer } from "node:buffer";
import type { KeyRange, StoredEntry } from "@keywright/core";
import { decodeRecord } from "@keywright/core/engine";
import type { RootDatabase, Transaction } from "lmdb";

/** The options of a read. The types of `lmdb` do not know them for every method. */
interface ReadOptions {
  readonly transaction?: Transaction;
}

/** The keys and values of an LMDB file, as bytes. */
export type LmdbStore = RootDatabase<Buffer, Uint8Array> & {
  getBinaryFast(key: Uint8Array, options: ReadOptions): Buffer | undefined;
};

export interface TreeRange extends KeyRange {
  readonly reverse: boolean;
}

/**
 * Reads an LMDB file. All reads between two calls of `renew` see one state, if no promise is
 * awaited between them. Reads of a transaction see its state.
 */
export class Tree {
  readonly #store: LmdbStore;
  readonly #options: ReadOptions;

  constructor(store: LmdbStore, transaction?: Transaction) {
    this.#store = store;
    this.#options = transaction === undefined ? {} : { transaction };
  }

  /** Lets the following reads see the newest state. */
  renew(): void {
    this.#store.resetReadTxn();
  }

  /** Returns the bytes under a key. They are valid until the next read. */
  peek(key: Uint8Array): Uint8Array | undefined {
    const found = this.#store.getBinaryFast(key, this.#options);
    // The buffer is longer than its `length`, because `lmdb` uses it for all reads.
    return found?.subarray(0, found.length);
  }

  get(key: Uint8Array): StoredEntry | undefined {
    const record = this.peek(key);
    if (record === undefined) return undefined;
    const entry = decodeRecord(key, record);
    const { versionstamp, expireAt } = entry;
    return { key, value: Buffer.from(entry.value), versionstamp, expireAt };
  }

  /** Calls `visit` with the entries of a range in order, until it returns false. */
  visit({ start, end, reverse }: TreeRange, visit: (entry: StoredEntry) => boolean): void {
    const bounds = reverse
      ? { start: end, exclusiveStart: true, end: start, inclusiveEnd: true, reverse }
      : { start, end };
    for (const { key, value } of this.#store.getRange({ ...bounds, ...this.#options }))
      if (!visit(decodeRecord(key, value))) return;
  }
}
