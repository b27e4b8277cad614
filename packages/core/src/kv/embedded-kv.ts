import type { AtomicWrite, Engine, StoredEntry } from "../engine/engine.js";
import { DatabaseClosedError, InvalidOptionError, ReadOnlyError } from "../errors/core-errors.js";
import { decodeKey } from "../keys/decode-key.js";
import { encodeEntryKey } from "../keys/encode-key.js";
import type { KvKey } from "../keys/key.js";
import type { KeyOrder } from "../keys/key-order.js";
import { type KeyRange, type KvListSelector, keyRange } from "../keys/key-range.js";
import { AtomicWriteBuilder } from "./atomic-write-builder.js";
import { commitVersionstampSymbol } from "./commit-versionstamp.js";
import type {
  AtomicOperation,
  Kv,
  KvCommitResult,
  KvConsistencyLevel,
  KvEnqueueOptions,
  KvEntryMaybe,
  KvListIterator,
  KvListOptions,
  KvSetKey,
  KvSetOptions,
  KvWatchOptions,
  QueueHandler,
} from "./kv.js";
import { assertWithin, type KvLimits } from "./limits.js";
import { RangeIterator } from "./list-iterator.js";
import type { SharedEngine } from "./shared-engine.js";
import { entryOf } from "./stored-entry.js";
import { assertSelectors, type KvRangeChange, watchRangeStream } from "./watch-range-stream.js";
import { WatchStream } from "./watch-stream.js";

/** How one handle of a database reads and writes. */
export interface EmbeddedKvOptions {
  readonly order: KeyOrder;
  /** The range of encoded keys that a selector of `watchRange` means; without it that of {@link keyRange}. */
  readonly rangeOf?: (selector: KvListSelector) => KeyRange;
  readonly limits: KvLimits;
  /** Whether a commit is acknowledged only when it would survive a power cut. */
  readonly sync: boolean;
  readonly readOnly: boolean;
}

/** A database that lives in this process, in memory or on disk: what `openKv` opens. */
export class EmbeddedKv implements Kv, AsyncDisposable, Disposable {
  /** How much the database takes at once. */
  readonly limits: KvLimits;
  readonly #shared: SharedEngine;
  readonly #options: EmbeddedKvOptions;
  /** What ends the watches and listeners of this handle. */
  readonly #ends = new Set<() => void>();
  #closing: Promise<void> | undefined;

  constructor(shared: SharedEngine, options: EmbeddedKvOptions) {
    this.limits = options.limits;
    this.#shared = shared;
    this.#options = options;
  }

  async get<T = unknown>(
    key: KvKey,
    _options?: { consistency?: KvConsistencyLevel },
  ): Promise<KvEntryMaybe<T>> {
    const read = this.#engine().get(this.#encodeKey(key));
    // A copy, before the caller has its turn again.
    const ownKey = [...key];
    return entryMaybe<T>(ownKey, read instanceof Promise ? await read : read);
  }

  async getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
    _options?: { consistency?: KvConsistencyLevel },
  ): Promise<{ [K in keyof T]: KvEntryMaybe<T[K]> }> {
    assertWithin(this.limits, "keys", keys.length);
    const encoded = (keys as readonly KvKey[]).map((key) => this.#encodeKey(key));
    const read = this.#engine().getMany(encoded);
    const ownKeys = (keys as readonly KvKey[]).map((key) => [...key]);
    const entries = read instanceof Promise ? await read : read;
    const results = ownKeys.map((key, index) => entryMaybe(key, entries[index]));
    return results as { [K in keyof T]: KvEntryMaybe<T[K]> };
  }

  async set(key: KvSetKey, value: unknown, options?: KvSetOptions): Promise<KvCommitResult> {
    // Without checks a commit cannot be refused.
    return (await this.atomic().set(key, value, options).commit()) as KvCommitResult;
  }

  async delete(key: KvKey): Promise<void> {
    await this.atomic().delete(key).commit();
  }

  list<T = unknown>(selector: KvListSelector, options: KvListOptions = {}): KvListIterator<T> {
    this.#engine();
    const { order, limits } = this.#options;
    const context = { order, limits, openEngine: () => this.#engine() };
    return new RangeIterator<T>(context, selector, options);
  }

  atomic(): AtomicOperation {
    this.#engine();
    const { order, limits, sync } = this.#options;
    return new AtomicWriteBuilder({
      order,
      limits,
      sync,
      commit: (write) => this.#commit(write),
    });
  }

  async enqueue(value: unknown, options?: KvEnqueueOptions): Promise<KvCommitResult> {
    return (await this.atomic().enqueue(value, options).commit()) as KvCommitResult;
  }

  async listenQueue(handler: QueueHandler): Promise<void> {
    this.#assertWritable();
    if (typeof handler !== "function") {
      throw new InvalidOptionError("handler", "it is a function");
    }
    const listener = this.#shared.messages.listen(handler, this.#options.sync);
    const end = () => listener.stop();
    this.#ends.add(end);
    try {
      await listener.done;
    } finally {
      this.#ends.delete(end);
    }
  }

  watch<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
    options: KvWatchOptions = {},
  ): ReadableStream<{ [K in keyof T]: KvEntryMaybe<T[K]> }> {
    const engine = this.#engine();
    assertWithin(this.limits, "watchedKeys", keys.length);
    if (keys.length === 0) throw new InvalidOptionError("keys", "there is at least one");
    const encoded = (keys as readonly KvKey[]).map((key) => this.#encodeKey(key));
    const ownKeys = encoded.map((key) => decodeKey(key, this.#options.order));
    const end = () => watch.end();
    const watch = new WatchStream(
      {
        read: async () => {
          const entries = await this.#engine().getMany(encoded);
          return entries.map((entry, index) => entryMaybe([...ownKeys[index]!], entry));
        },
        subscribe: (onChange) => engine.watch(encoded, onChange),
        onEnd: () => this.#ends.delete(end),
      },
      options.raw ?? false,
    );
    this.#ends.add(end);
    return watch.stream as ReadableStream<{ [K in keyof T]: KvEntryMaybe<T[K]> }>;
  }

  /**
   * The keys that change within ranges: after each commit that set or deleted some of them, whoever in this process made
   * it, and when expired entries are removed. A key that was set to what it had, or deleted where it was absent, is
   * reported too. Nothing is reported at first; every commit that is made after the call is, so that who calls it first
   * and reads the ranges then misses nothing.
   *
   * Changes that come faster than they are read are reported as one. At the most 1,000 keys are kept for the next read:
   * where there are more, `isComplete` is false. The stream ends when the database is closed for this handle.
   *
   * ```ts
   * for await (const { keys } of kv.watchRange([{ prefix: ["users"] }])) console.log(keys);
   * ```
   *
   * @throws {InvalidOptionError} without a selector.
   * @throws {InvalidSelectorError} and {InvalidKeyError} as `list`.
   * @throws {DatabaseClosedError} after `close()`.
   */
  watchRange(selectors: readonly KvListSelector[]): ReadableStream<KvRangeChange> {
    const engine = this.#engine();
    const { order, rangeOf = (selector) => keyRange(selector, order) } = this.#options;
    assertSelectors(selectors);
    const ranges = selectors.map((selector) => rangeOf(selector));
    const end = () => watch.end();
    const onEnd = () => this.#ends.delete(end);
    const watch = watchRangeStream({ engine, order, ranges, onEnd });
    this.#ends.add(end);
    return watch.stream;
  }

  /**
   * Stands for the versionstamp of the commit, as the last part of a key to set: it becomes a string of 20 hexadecimal
   * digits, so that keys are in the order of their commits.
   */
  commitVersionstamp(): symbol {
    return commitVersionstampSymbol;
  }

  /**
   * Closes the database for this handle: watches and listeners end, commits that were begun are finished, everything
   * after is refused. Resolves when that is done, and where this was the last handle, when the database is closed.
   */
  close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#closing = this.#shared.release();
      for (const end of [...this.#ends]) end();
      this.#ends.clear();
    }
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Begins to close the database, and does not wait for it. */
  [Symbol.dispose](): void {
    // What goes wrong in a commit its caller is told; nobody is left who could be told of more.
    this.close().catch(() => undefined);
  }

  #commit(write: AtomicWrite): Promise<string | null> {
    this.#assertWritable();
    return this.#shared.commit(write);
  }

  #encodeKey(key: KvKey): Uint8Array {
    const encoded = encodeEntryKey(key, this.#options.order);
    assertWithin(this.limits, "keyBytes", encoded.length);
    return encoded;
  }

  /** @throws {ReadOnlyError} where it was opened for reading only. */
  #assertWritable(): void {
    this.#engine();
    if (this.#options.readOnly) throw new ReadOnlyError();
  }

  /** @throws {DatabaseClosedError} after `close()`. */
  #engine(): Engine {
    if (this.#closing !== undefined) throw new DatabaseClosedError();
    return this.#shared.engine;
  }
}

function entryMaybe<T>(key: KvKey, entry: StoredEntry | undefined): KvEntryMaybe<T> {
  return entry === undefined ? { key, value: null, versionstamp: null } : entryOf<T>(key, entry);
}
