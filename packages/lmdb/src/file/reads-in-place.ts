import type { KeyList } from "@keywright/core";
import { RecordEntry } from "@keywright/core/engine";
import type { RangeOptions } from "lmdb";
import { readFailure } from "../errors/lmdb-failure.js";
import type { LmdbStore, ReadOptions } from "./lmdb-store.js";

/**
 * Reads entries where `lmdb` puts them: it has one piece of memory for the key of an iterator, and
 * one for the value that was read last. A store copies them both for each entry. This one passes
 * them on, and lets `lmdb` take keys from a list of keys.
 */
export class ReadsInPlace {
  readonly #entry = new RecordEntry();
  /** The store for ranges. It puts the places of what it has read into the fields below. */
  readonly #ranges: LmdbStore;
  /** The store for keys of a list. It takes the key whose place the fields below have. */
  readonly #keys: LmdbStore;
  #keyBytes: Uint8Array = noBytes;
  #keyStart = 0;
  #keyEnd = 0;
  #record: Uint8Array = noBytes;

  constructor(store: LmdbStore) {
    this.#ranges = storeWith(store, {
      readKey: (source: Uint8Array, start: number, end: number): void => {
        this.#keyBytes = source;
        this.#keyStart = start;
        this.#keyEnd = end;
      },
      decoder: {
        decode: (record: Uint8Array): void => {
          this.#record = record;
        },
      },
      decoderCopies: true,
    });
    this.#keys = storeWith(store, {
      writeKey: (_key: unknown, target: Uint8Array, start: number): number => {
        const source = this.#keyBytes;
        const end = this.#keyEnd;
        let next = start;
        for (let i = this.#keyStart; i < end; i++) target[next++] = source[i]!;
        return next;
      },
    });
  }

  visitRange(options: RangeOptions, visit: (entry: RecordEntry) => boolean): void {
    const entry = this.#entry;
    for (const _ of this.#ranges.getRange(options)) {
      entry.read(this.#keyBytes, this.#record, this.#keyStart, this.#keyEnd);
      if (!visit(entry)) return;
    }
  }

  visitMany(
    { bytes, starts, ends }: KeyList,
    options: ReadOptions,
    visit: (position: number, entry: RecordEntry) => void,
  ): void {
    const entry = this.#entry;
    this.#keyBytes = bytes;
    try {
      for (let i = 0; i < starts.length; i++) {
        const start = starts[i]!;
        const end = ends[i]!;
        this.#keyStart = start;
        this.#keyEnd = end;
        const record = this.#keys.getBinaryFast(noBytes, options);
        if (record !== undefined) visit(i, entry.read(bytes, record, start, end));
      }
    } catch (error) {
      throw readFailure(error, bytes.slice(this.#keyStart, this.#keyEnd));
    }
  }
}

const noBytes = new Uint8Array(0);

/** Returns a store of the same file with other methods, for reads only. */
function storeWith(store: LmdbStore, methods: object): LmdbStore {
  return Object.assign(Object.create(store) as LmdbStore, methods);
}
