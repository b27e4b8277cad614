import { Buffer } from "node:buffer";
import type { KeyList, KeyRange, StoredEntry } from "@keywright/core";
import { decodeRecord, type RecordEntry } from "@keywright/core/engine";
import type { Transaction } from "lmdb";
import type { LmdbStore, ReadOptions } from "./lmdb-store.js";
import type { ReadsInPlace } from "./reads-in-place.js";

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
  readonly #inPlace: ReadsInPlace;

  constructor(store: LmdbStore, inPlace: ReadsInPlace, transaction?: Transaction) {
    this.#store = store;
    this.#inPlace = inPlace;
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

  /**
   * Calls `visit` with the entries of a range in order, until it returns false. The entry and its
   * bytes are valid only during the call, which must not read the file.
   */
  visit({ start, end, reverse }: TreeRange, visit: (entry: RecordEntry) => boolean): void {
    const bounds = reverse
      ? { start: end, exclusiveStart: true, end: start, inclusiveEnd: true, reverse }
      : { start, end };
    this.#inPlace.visitRange({ ...bounds, ...this.#options }, visit);
  }

  /** Calls `visit` with the entries of keys, under the conditions of {@link visit}. */
  visitMany(keys: KeyList, visit: (position: number, entry: RecordEntry) => void): void {
    this.#inPlace.visitMany(keys, this.#options, visit);
  }
}
