import { textOfBytes } from "../bytes/text-of-bytes.js";
import type {
  AtomicWrite,
  DatabaseOwner,
  Engine,
  MaybePromise,
  OpenViewOptions,
  ReadView,
  Turn,
  Turns,
} from "../engine/engine.js";
import type { FileReport } from "../engine/files/file-report.js";
import { visibleRange } from "../engine/system-keys.js";
import { DatabaseClosedError, InvalidOptionError, ReadOnlyError } from "../errors/core-errors.js";
import { decodeKey } from "../keys/decode-key.js";
import { encodeEntryKey } from "../keys/encode-key.js";
import type { KvKey } from "../keys/key.js";
import type { KeyOrder } from "../keys/key-order.js";
import { type KeyRange, type KvListSelector, keyRange } from "../keys/key-range.js";
import type {
  AtomicOperation,
  KvCommitResult,
  KvEnqueueOptions,
  KvSetKey,
  KvSetOptions,
} from "./atomic-operation.js";
import { consume } from "./consume/consume.js";
import type { KvConsumeOptions, KvConsumerHandler } from "./consume/consume-types.js";
import { type KvConsumer, listConsumers, removeConsumer } from "./consume/list-consumers.js";
import type {
  Kv,
  KvConsistencyLevel,
  KvEntryMaybe,
  KvListIterator,
  KvListOptions,
  KvView,
  KvWatchOptions,
  QueueHandler,
  VerifyFilesOptions,
} from "./kv.js";
import type { KvPages } from "./kv-pages.js";
import { assertWithin, type KvLimits } from "./limits.js";
import { type OpenPastOptions, openPast } from "./log/open-past.js";
import {
  type ChangesFilter,
  type KvChangesOptions,
  type KvLoggedCommit,
  readChanges,
} from "./log/read-changes.js";
import {
  type KvLastChange,
  type KvLastChangeOptions,
  readCommit,
  readLastChange,
} from "./log/read-commit.js";
import type { SharedEngine } from "./open/shared-engine.js";
import {
  entryMaybe,
  type KvReads,
  type KvReadsContext,
  SpecificationReads,
} from "./read/kv-reads.js";
import { EmbeddedView, HeldView } from "./read/kv-view.js";
import {
  assertSelectors,
  type KvRangeChange,
  watchRangeStream,
} from "./watch/watch-range-stream.js";
import { watchStream } from "./watch/watch-stream.js";
import { AtomicWriteBuilder } from "./write/atomic-write-builder.js";
import { commitVersionstampSymbol } from "./write/commit-versionstamp.js";

export interface EmbeddedKvOptions {
  readonly order: KeyOrder;
  /** Returns the encoded range of a selector of `watchRange`. The default is {@link keyRange}. */
  readonly rangeOf?: (selector: KvListSelector) => KeyRange;
  /** Returns reads for other rules than those of the specification. */
  readonly readsOf?: (context: KvReadsContext) => KvReads;
  /** Returns an operation for other rules than those of the specification. */
  readonly atomicBy?: (commit: (write: AtomicWrite) => Promise<string | null>) => AtomicOperation;
  readonly limits: KvLimits;
  /** True if a commit is acknowledged only when it would survive a power cut. */
  readonly sync: boolean;
  readonly readOnly: boolean;
  /** True to read what is left of a database that was moved to another place. */
  readonly allowMoved?: boolean;
}

/** A database on an engine: in memory, on disk or on a server. `openKv` opens it. */
export class EmbeddedKv implements Kv, AsyncDisposable, Disposable {
  /** The limits of the sizes and counts of one call. */
  readonly limits: KvLimits;
  readonly #shared: SharedEngine;
  readonly #options: EmbeddedKvOptions;
  readonly #reads: KvReads;
  /** The watches and listeners of this handle. */
  readonly #open = new Set<{ end(): void }>();
  #closing: Promise<void> | undefined;
  readonly #unlistenMoved: () => void;

  constructor(shared: SharedEngine, options: EmbeddedKvOptions) {
    this.limits = options.limits;
    this.#shared = shared;
    this.#options = options;
    this.#reads = this.#readsOf(false, (operation) => this.#engine(operation));
    const isEnding = options.allowMoved !== true;
    this.#unlistenMoved = shared.fence.onMoved(() => isEnding && this.#endStreams());
  }

  /**
   * Internal: what the handle shares with the others of its database.
   *
   * @throws {InvalidOptionError} if `kv` is another kind of database.
   * @throws {DatabaseClosedError} after `close()`.
   */
  static sharedOf(kv: EmbeddedKv, operation: string): SharedEngine {
    if (typeof kv !== "object" || kv === null || !(#shared in kv)) {
      const reason = "must be what openKv of @keywright/core returns";
      throw new InvalidOptionError("kv", reason, operation);
    }
    if (kv.#closing !== undefined) throw new DatabaseClosedError(operation, kv.#shared.path);
    return kv.#shared;
  }

  /** True if other processes may have the database open. */
  get isShared(): boolean {
    return this.#shared.isShared;
  }

  /** True if `checkRange` of an atomic operation works. */
  get checksRanges(): boolean {
    return this.#shared.engine.checksRanges === true;
  }

  /**
   * The versionstamp of the last commit, if it is known without waiting. Undefined while a commit
   * is being written, and always on a server or in an attached process. Two calls of `get` or
   * `getMany` see the same state if it was the same before both.
   */
  get lastVersionstamp(): string | undefined {
    return this.#shared.engine.lastVersionstamp;
  }

  /** The line for calls that have lost several attempts, which all handles share. */
  get turns(): Turns {
    return this.#shared.turns;
  }

  /**
   * Returns the entry of a key as it was when a turn began, if it came with the turn. Returns it
   * only once.
   */
  takeEntry<T = unknown>(turn: Turn, key: KvKey): Promise<KvEntryMaybe<T>> | undefined {
    const stored = turn.takeEntry?.(textOfBytes(this.#encodeKey(key)));
    if (stored === undefined) return undefined;
    const get = () => stored ?? undefined;
    const reads = this.#readsOf(true, () => ({ get, getMany: () => [], getRange: () => [] }));
    return reads.get<T>(key);
  }

  /** Faster reads of many entries. Undefined in Deno's mode. */
  get pages(): KvPages | undefined {
    return this.#reads.pages;
  }

  /** The process that owns the database, if it is another one. */
  get attached(): DatabaseOwner | undefined {
    return this.#shared.engine.owner;
  }

  get<T = unknown>(
    key: KvKey,
    options?: { consistency?: KvConsistencyLevel },
  ): Promise<KvEntryMaybe<T>> {
    return this.#reads.get<T>(key, options);
  }

  getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
    options?: { consistency?: KvConsistencyLevel },
  ): Promise<{ [K in keyof T]: KvEntryMaybe<T[K]> }> {
    return this.#reads.getMany<T>(keys, options);
  }

  async set(key: KvSetKey, value: unknown, options?: KvSetOptions): Promise<KvCommitResult> {
    // Without checks a commit cannot be refused.
    return (await this.#atomic("set").set(key, value, options).commit()) as KvCommitResult;
  }

  async delete(key: KvKey): Promise<void> {
    await this.#atomic("delete").delete(key).commit();
  }

  list<T = unknown>(selector: KvListSelector, options?: KvListOptions): KvListIterator<T> {
    return this.#reads.list<T>(selector, options);
  }

  /**
   * Opens a view: `get`, `getMany` and `list` of the state that the database has now, whatever is
   * committed or expires later. Other programs are not delayed by it. A view must be closed.
   * Returns undefined if the engine of the database has no views.
   *
   * An engine may end a view that is open for long. Its reads then reject with a
   * `ReadViewEndedError`. On LMDB and LevelDB, the file cannot reuse the space of what is replaced
   * while a view is open.
   *
   * ```ts
   * using view = await kv.openView();
   * ```
   *
   * @throws {DatabaseClosedError} after `close()`.
   * @throws {EngineUnavailableError} if the server of the database does not answer.
   */
  openView(options?: OpenViewOptions): MaybePromise<KvView | undefined> {
    const opening = this.#engine("openView").openView?.(options);
    return opening instanceof Promise
      ? opening.then((view) => this.#viewOf(view))
      : opening && this.#viewOf(opening);
  }

  atomic(): AtomicOperation {
    return this.#atomic("atomic");
  }

  async enqueue(value: unknown, options?: KvEnqueueOptions): Promise<KvCommitResult> {
    return (await this.#atomic("enqueue").enqueue(value, options).commit()) as KvCommitResult;
  }

  async listenQueue(handler: QueueHandler): Promise<void> {
    this.#assertWritable("listenQueue");
    if (typeof handler !== "function") {
      throw new InvalidOptionError("handler", "must be a function", "listenQueue");
    }
    const listener = this.#shared.listen(handler, this.#options.sync);
    this.#open.add(listener);
    try {
      await listener.done;
    } finally {
      this.#open.delete(listener);
    }
  }

  watch<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
    options: KvWatchOptions = {},
  ): ReadableStream<{ [K in keyof T]: KvEntryMaybe<T[K]> }> {
    const engine = this.#engine("watch");
    assertWithin(this.limits, "watchedKeys", keys.length);
    if (keys.length === 0) throw new InvalidOptionError("keys", "must not be empty", "watch");
    const encoded = (keys as readonly KvKey[]).map((key) => this.#encodeKey(key));
    const ownKeys = encoded.map((key) => decodeKey(key, this.#options.order));
    const stream = watchStream(
      {
        read: async () => {
          const entries = await this.#engine("watch").getMany(encoded);
          return entries.map((entry, index) => entryMaybe([...ownKeys[index]!], entry));
        },
        subscribe: (onChange) => engine.watch(encoded, onChange),
        open: this.#open,
      },
      options.raw ?? false,
    );
    return stream as ReadableStream<{ [K in keyof T]: KvEntryMaybe<T[K]> }>;
  }

  async verifyFiles(options: VerifyFilesOptions = {}): Promise<FileReport | undefined> {
    const { onProgress = () => undefined } = options;
    return await this.#engine("verifyFiles").verifyFiles?.(onProgress);
  }

  /**
   * Returns a stream of the keys that change within ranges. It reports the keys that a commit
   * sets or deletes, and the keys of expired entries when they are removed. The commits of other
   * processes are reported too if the database is shared. A key that is set to its current value,
   * or deleted although it is absent, is reported too. The stream does not report the initial
   * state. It reports every commit that is made after the call, so a program that first calls
   * `watchRange` and then reads the ranges misses nothing.
   *
   * Changes that come faster than they are read are reported as one. At most 1,000 keys are kept
   * for the next read. If there are more, `isComplete` is false. The stream ends when the database
   * is closed for this handle.
   *
   * ```ts
   * for await (const { keys } of kv.watchRange([{ prefix: ["users"] }])) console.log(keys);
   * ```
   *
   * @throws {InvalidOptionError} if there is no selector.
   * @throws {InvalidSelectorError} if a selector is not valid.
   * @throws {InvalidKeyError} if a key in a selector is not valid.
   * @throws {DatabaseClosedError} after `close()`.
   */
  watchRange(selectors: readonly KvListSelector[]): ReadableStream<KvRangeChange> {
    const engine = this.#engine("watchRange");
    const { order, rangeOf = (selector) => keyRange(selector, order) } = this.#options;
    assertSelectors(selectors);
    const ranges = selectors.map((selector) => rangeOf(selector));
    return watchRangeStream({ engine, order, ranges, open: this.#open });
  }

  /**
   * Returns the commits of the log in their order: what each has changed, and the values before and
   * after. It first yields those that the log has, and then waits for further ones. If it ends
   * early, for example because the program does, begin again with `after`: the versionstamp of the
   * last commit that was handled.
   *
   * A slow reader costs no memory. The iteration ends if the database is closed for this handle.
   *
   * ```ts
   * for await (const { versionstamp, changes } of kv.changes({ prefix: ["users"] })) {
   *   for (const { key, before, after } of changes) console.log(versionstamp, key, before, after);
   * }
   * ```
   *
   * @throws {LogOffError} if the database keeps no log: see the option `log` of `openKv`.
   * @throws {LogTruncatedError} if the log no longer has all commits after `after`.
   * @throws {InvalidVersionstampError} if `after` is not a versionstamp.
   * @throws {InvalidKeyError} if the prefix is not a key.
   * @throws {DatabaseClosedError} after `close()`.
   */
  changes<T = unknown>(options: KvChangesOptions = {}): AsyncIterableIterator<KvLoggedCommit<T>> {
    const source = {
      ...{ ...this.#filterOf(options), engine: this.#engine("changes"), open: this.#open },
      isClosed: () => this.#closing !== undefined,
      assertCurrent: () => void this.#engine("changes"),
    };
    return readChanges<T>(source, options);
  }

  /**
   * Returns a commit of the log, with its changes under a prefix or of a key. Undefined if the log
   * does not have it, or if it has none of these changes. One read: an entry has the versionstamp
   * of the commit that has set it, so its history can be followed from `before` to `before`.
   *
   * @throws {LogOffError} if the database keeps no log.
   * @throws {InvalidVersionstampError} if `versionstamp` is not valid.
   */
  commitAt<T = unknown>(
    versionstamp: string,
    options: Pick<KvChangesOptions, "prefix" | "key"> = {},
  ): Promise<KvLoggedCommit<T> | undefined> {
    return readCommit<T>(this.#engine("commitAt"), this.#filterOf(options), versionstamp);
  }

  /**
   * Returns the last commit of the log that has changed a key, which may be absent now. It reads
   * the log backwards, each commit until one has changed the key, and at most `maxCommits` of them.
   *
   * @throws {LogOffError} if the database keeps no log.
   * @throws {InvalidKeyError} if the key is not valid.
   */
  lastChange<T = unknown>(key: KvKey, options: KvLastChangeOptions = {}): Promise<KvLastChange<T>> {
    const filter = { ...this.#filterOf({ key }), key: this.#encodeKey(key) };
    return readLastChange<T>(this.#engine("lastChange"), filter, options);
  }

  /**
   * Calls a handler for each commit of the log, in the order of the commits, and at least once. The
   * database keeps the position of the consumer under its name. If several processes consume under
   * one name, one of them at a time has the consumer, and another takes over when it ends or dies.
   *
   * The position moves past a commit when the handler resolves, or in one commit with the writes of
   * the handler if it makes them with `atomic()` of the delivery: these happen exactly once. If the
   * handler throws, the error goes to `onError` and the handler is called again. Commits that the
   * consumer has made itself are not delivered to it. A slow consumer costs no memory.
   *
   * Resolves after `signal` was aborted and the handler has ended, or after `close()`.
   *
   * ```ts
   * await kv.consume("totals", async ({ commit, atomic }) => {
   *   await atomic().sum(["changes"], BigInt(commit.changes.length)).commit();
   * }, { prefix: ["orders"], signal });
   * ```
   *
   * @throws {LogOffError} if the database keeps no log.
   * @throws {LogTruncatedError} if the log no longer has the commits after the position. Then
   * {@link removeConsumer} and begin again with `from`.
   * @throws {ConsumerLostError} if the consumer was removed.
   * @throws {InvalidOptionError} if the name, the handler or an option is not valid.
   * @throws {ReadOnlyError} if the database was opened read-only.
   * @throws {DatabaseClosedError} after `close()`.
   */
  async consume<T = unknown>(
    name: string,
    handler: KvConsumerHandler<T>,
    options: KvConsumeOptions<T> = {},
  ): Promise<void> {
    this.#assertWritable("consume");
    const { engine } = this.#shared;
    const { atomicBy } = this.#options;
    const isLocal = engine.isShared !== true && engine.listen === undefined;
    const source = {
      ...{ ...this.#filterOf(options), engine, open: this.#open },
      isClosed: () => this.#closing !== undefined,
      assertCurrent: () => void this.#engine("consume"),
      commit: this.#shared.commit,
      isAlone: () => isLocal && !this.#shared.isShared,
      atomicBy: (commit: (write: AtomicWrite) => Promise<string | null>) =>
        atomicBy?.(commit) ?? this.#atomic("consume", commit),
    };
    await consume<T>(source, name, handler, options);
  }

  /** Returns all consumers of the log, by name: how far each has come, and which process has it. */
  async consumers(): Promise<KvConsumer[]> {
    return await listConsumers({ engine: this.#engine("consumers") });
  }

  /**
   * Forgets a consumer of the log. Calls of `consume` that run under its name reject with a
   * `ConsumerLostError`. A later one begins where its option `from` says.
   *
   * @returns false if there is no such consumer.
   * @throws {ReadOnlyError} if the database was opened read-only.
   */
  async removeConsumer(name: string): Promise<boolean> {
    this.#assertWritable("removeConsumer");
    return await removeConsumer(this.#shared, name);
  }

  /**
   * Opens a view of an earlier state: that after the last commit up to a versionstamp or a time. It
   * reads the log backwards from now to that moment, and keeps what was changed since in memory.
   * The view must be closed. Returns undefined if the engine of the database has no views.
   *
   * - Entries that have expired by now are absent.
   * - Times are those of the processes that have made the commits. A time means the last commit
   *   that has this time or an earlier one.
   * - On etcd and PostgreSQL, the sum of a key is calculated from the present one, and 0 is absent.
   *
   * ```ts
   * using yesterday = await kv.openPast(new Date(Date.now() - 86_400_000));
   * ```
   *
   * @throws {LogOffError} if the database keeps no log.
   * @throws {LogTruncatedError} if the log does not reach back to the moment.
   * @throws {PastLimitError} if more than `maxChanges` entries were changed since.
   * @throws {PastUnknownError} from reads of a key that `min` or `max` has changed since, on etcd
   * and PostgreSQL.
   */
  async openPast(moment: string | Date, options?: OpenPastOptions): Promise<KvView | undefined> {
    const engine = this.#engine("openPast");
    const view = await openPast(engine, this.#options.order, moment, options);
    return view && this.#viewOf(view);
  }

  /**
   * Returns a placeholder for the versionstamp of the commit. As the last part of a key to set, it
   * becomes a string of 20 hexadecimal digits, so that keys are in the order of their commits.
   */
  commitVersionstamp(): symbol {
    return commitVersionstampSymbol;
  }

  /**
   * Closes the database for this handle. Watches and listeners end, commits that have begun finish,
   * and later calls are refused. The last handle also closes the database itself. Resolves when all
   * of this is done.
   */
  close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#closing = this.#shared.release();
      this.#endStreams();
      this.#unlistenMoved();
    }
    return this.#closing;
  }

  #endStreams(): void {
    for (const each of [...this.#open]) each.end();
    this.#open.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Starts to close the database and does not wait for it. */
  [Symbol.dispose](): void {
    // The caller of a commit gets its error. No caller is left for the errors of closing.
    this.close().catch(() => undefined);
  }

  #atomic(operation: string, commit = this.#shared.commit): AtomicOperation {
    const { checksRanges = false } = this.#engine(operation);
    return new AtomicWriteBuilder(this.#options, checksRanges, (write) => {
      this.#assertWritable(operation);
      return commit(write);
    });
  }

  #filterOf({ prefix = [], key }: Pick<KvChangesOptions, "prefix" | "key">): ChangesFilter {
    const { order, rangeOf = (selector) => keyRange(selector, order) } = this.#options;
    if (key === undefined) return { order, range: visibleRange(rangeOf({ prefix })) };
    const start = this.#encodeKey(key);
    return { order, range: { start, end: Uint8Array.of(...start, 0) } };
  }

  #viewOf(view: ReadView): KvView {
    const held = new HeldView(view, this.#open);
    const reads = this.#readsOf(true, (operation) => {
      this.#engine(operation);
      return held.view;
    });
    // The handle may have been closed while the view was opened.
    if (this.#closing !== undefined) held.close();
    return new EmbeddedView(this.limits, reads, held);
  }

  #readsOf(isView: boolean, stored: KvReadsContext["stored"]): KvReads {
    const { order, limits, readsOf } = this.#options;
    const { visitsAtOnce, getsCopies } = this.#shared.engine;
    const listsAtOnce = !isView && visitsAtOnce === true;
    const visitsKeys = listsAtOnce && getsCopies === true;
    const context = { limits, isView, listsAtOnce, visitsKeys, stored };
    return readsOf?.(context) ?? new SpecificationReads({ ...context, order });
  }

  #encodeKey(key: KvKey): Uint8Array {
    const encoded = encodeEntryKey(key, this.#options.order);
    assertWithin(this.limits, "keyBytes", encoded.length);
    return encoded;
  }

  #assertWritable(operation: string): void {
    this.#engine(operation);
    if (this.#options.readOnly) throw new ReadOnlyError(operation, this.#shared.path);
  }

  #engine(operation: string): Engine {
    if (this.#closing !== undefined) throw new DatabaseClosedError(operation, this.#shared.path);
    if (this.#options.allowMoved !== true) this.#shared.fence.assertNotMoved();
    return this.#shared.engine;
  }
}
