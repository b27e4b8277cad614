import type { AtomicWrite, Engine, EngineLimits, StoredEntry } from "../engine/engine.js";
import { DatabaseClosedError } from "../errors/core-errors.js";
import { encodeEntryKey } from "../keys/encode-key.js";
import type { KvKey } from "../keys/key.js";
import type { KvListSelector } from "../keys/key-range.js";
import { AtomicWriteBuilder } from "./atomic-write-builder.js";
import { decodeStoredValue } from "./decode-stored-value.js";
import type {
  AtomicOperation,
  Kv,
  KvCommitResult,
  KvConsistencyLevel,
  KvEntryMaybe,
  KvListIterator,
  KvListOptions,
} from "./kv.js";
import { RangeIterator } from "./list-iterator.js";
import type { SharedEngine } from "./shared-engine.js";

/** A database that lives in this process, in memory or on disk: what `openKv` opens. */
export class EmbeddedKv implements Kv, AsyncDisposable {
  /** How many checks and mutations one atomic operation takes. */
  readonly limits: EngineLimits;
  readonly #shared: SharedEngine;
  readonly #sync: boolean;
  #closing: Promise<void> | undefined;

  /** @param sync whether a commit is acknowledged only when it would survive a power cut. */
  constructor(shared: SharedEngine, sync: boolean) {
    this.limits = shared.engine.limits;
    this.#shared = shared;
    this.#sync = sync;
  }

  async get<T = unknown>(
    key: KvKey,
    _options?: { consistency?: KvConsistencyLevel },
  ): Promise<KvEntryMaybe<T>> {
    const read = this.#engine().get(encodeEntryKey(key));
    // A copy, before the caller has its turn again.
    const ownKey = [...key];
    return entryMaybe<T>(ownKey, read instanceof Promise ? await read : read);
  }

  async getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
    _options?: { consistency?: KvConsistencyLevel },
  ): Promise<{ [K in keyof T]: KvEntryMaybe<T[K]> }> {
    const read = this.#engine().getMany((keys as readonly KvKey[]).map(encodeEntryKey));
    const ownKeys = (keys as readonly KvKey[]).map((key) => [...key]);
    const entries = read instanceof Promise ? await read : read;
    const results = ownKeys.map((key, index) => entryMaybe(key, entries[index]));
    return results as { [K in keyof T]: KvEntryMaybe<T[K]> };
  }

  async set(key: KvKey, value: unknown): Promise<KvCommitResult> {
    // Without checks a commit cannot be refused.
    return (await this.atomic().set(key, value).commit()) as KvCommitResult;
  }

  async delete(key: KvKey): Promise<void> {
    await this.atomic().delete(key).commit();
  }

  list<T = unknown>(selector: KvListSelector, options: KvListOptions = {}): KvListIterator<T> {
    this.#engine();
    return new RangeIterator<T>(() => this.#engine(), selector, options);
  }

  atomic(): AtomicOperation {
    this.#engine();
    return new AtomicWriteBuilder(this.#sync, (write) => this.#commit(write));
  }

  /**
   * Closes the database for this handle: commits that were begun are finished, everything after is refused. Resolves
   * when that is done, and where this was the last handle, when the database is closed.
   */
  close(): Promise<void> {
    this.#closing ??= this.#shared.release();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #commit(write: AtomicWrite): Promise<string | null> {
    this.#engine();
    return await this.#shared.queue.commit(write);
  }

  /** @throws {DatabaseClosedError} after `close()`. */
  #engine(): Engine {
    if (this.#closing !== undefined) throw new DatabaseClosedError();
    return this.#shared.engine;
  }
}

function entryMaybe<T>(key: KvKey, entry: StoredEntry | undefined): KvEntryMaybe<T> {
  if (entry === undefined) return { key, value: null, versionstamp: null };
  return { key, value: decodeStoredValue(entry) as T, versionstamp: entry.versionstamp };
}
