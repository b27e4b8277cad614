import type { StoredEntry } from "../../engine/engine.js";
import type { ViewReads } from "../../engine/open-views.js";
import { encodeEntryKey } from "../../keys/encode-key.js";
import type { KvKey } from "../../keys/key.js";
import type { KeyOrder } from "../../keys/key-order.js";
import type { KvListSelector } from "../../keys/key-range.js";
import type { Kv, KvEntryMaybe, KvListIterator, KvListOptions, KvPages } from "../kv.js";
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
    const read = this.#context.stored("get").get(this.encodeKey(key));
    // Copied before the first `await`, because the caller may change the array afterwards.
    const ownKey = [...key];
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

export function entryMaybe<T>(key: KvKey, entry: StoredEntry | undefined): KvEntryMaybe<T> {
  return entry === undefined ? { key, value: null, versionstamp: null } : toKvEntry<T>(key, entry);
}
