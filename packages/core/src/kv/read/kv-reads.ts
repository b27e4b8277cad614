import type { StoredEntry } from "../../engine/engine.js";
import type { ViewReads } from "../../engine/read/open-views.js";
import { encodeEntryKey } from "../../keys/encode-key.js";
import type { KvKey } from "../../keys/key.js";
import type { KeyOrder } from "../../keys/key-order.js";
import type { KvListSelector } from "../../keys/key-range.js";
import type { Kv, KvEntryMaybe, KvListIterator, KvListOptions } from "../kv.js";
import type { KvPages } from "../kv-pages.js";
import { assertWithin, type KvLimits } from "../limits.js";
import { RangeIterator } from "./list-iterator.js";
import { PageReads } from "./page-reads.js";
import { toKvEntry } from "./stored-entry.js";

/** The reads of a database or of a view of it. */
export type KvReads = Pick<Kv, "get" | "getMany" | "list" | "pages">;

export interface KvReadsContext {
  readonly limits: KvLimits;
  /** True if entries that expire stay, because they are read from a view. */
  readonly isView: boolean;
  /** True if ranges are read synchronously. */
  readonly listsAtOnce: boolean;
  /** True if also a single key is read where the engine has its entry. */
  readonly visitsKeys: boolean;
  /**
   * Returns the stored entries.
   *
   * @throws {DatabaseClosedError} after the database was closed.
   */
  stored(operation: string): ViewReads;
}

/** Reads entries in the order and with the limits of the specification. */
export class SpecificationReads implements KvReads {
  readonly pages: KvPages;
  readonly #context: KvReadsContext & { readonly order: KeyOrder };

  constructor(context: KvReadsContext & { readonly order: KeyOrder }) {
    this.#context = context;
    this.pages = new PageReads(context);
  }

  async get<T = unknown>(key: KvKey): Promise<KvEntryMaybe<T>> {
    const encoded = this.encodeKey(key);
    const reads = this.#context.stored("get");
    // Copied before the first `await`, because the caller may change the array afterwards.
    const ownKey = [...key];
    if (this.#context.visitsKeys && reads.visitMany !== undefined) {
      const keys = { bytes: encoded, starts: atStart, ends: [encoded.length] };
      let found: KvEntryMaybe<T> | undefined;
      const visited = reads.visitMany(keys, (_, entry) => {
        found = toKvEntry<T>(ownKey, entry);
      });
      if (visited instanceof Promise) await visited;
      return found ?? { key: ownKey, value: null, versionstamp: null };
    }
    const read = reads.get(encoded);
    return entryMaybe<T>(ownKey, read instanceof Promise ? await read : read);
  }

  async getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
  ): Promise<{ [K in keyof T]: KvEntryMaybe<T[K]> }> {
    assertWithin(this.#context.limits, "keys", keys.length);
    const encoded = (keys as readonly KvKey[]).map((key) => this.encodeKey(key));
    const read = this.#context.stored("getMany").getMany(encoded);
    const ownKeys = (keys as readonly KvKey[]).map((key) => [...key]);
    const entries = read instanceof Promise ? await read : read;
    const results = ownKeys.map((key, index) => entryMaybe(key, entries[index]));
    return results as { [K in keyof T]: KvEntryMaybe<T[K]> };
  }

  list<T = unknown>(selector: KvListSelector, options: KvListOptions = {}): KvListIterator<T> {
    this.#context.stored("list");
    return new RangeIterator<T>(this.#context, selector, options);
  }

  encodeKey(key: KvKey): Uint8Array {
    const encoded = encodeEntryKey(key, this.#context.order);
    const { limits } = this.#context;
    if (encoded.length > limits.keyBytes) assertWithin(limits, "keyBytes", encoded.length);
    return encoded;
  }
}

const atStart: readonly number[] = [0];

export function entryMaybe<T>(key: KvKey, entry: StoredEntry | undefined): KvEntryMaybe<T> {
  return entry === undefined ? { key, value: null, versionstamp: null } : toKvEntry<T>(key, entry);
}
