import type { MaybePromise, OpenViewOptions, Turn, Turns } from "../engine/engine.js";
import type { FileReport } from "../engine/files/file-report.js";
import type { Progress } from "../engine/progress.js";
import type { KvKey, KvKeyPart } from "../keys/key.js";
import type { KeyPrefix } from "../keys/key-prefix.js";
import type { KvListSelector } from "../keys/key-range.js";
import type { KvConsumer } from "./consume/list-consumers.js";
import type { KvLimits } from "./limits.js";
import type { OpenPastOptions } from "./log/open-past.js";
import type { KvChangesOptions, KvLoggedCommit } from "./log/read-changes.js";
import type { KvLastChange, KvLastChangeOptions } from "./log/read-commit.js";

/** A stored value with its key and versionstamp. */
export interface KvEntry<T> {
  /** The key. `get` and `getMany` return a copy of the key that they were called with. */
  key: KvKey;
  /** The value. Each read returns a new copy. */
  value: T;
  /** The versionstamp of the commit that stored it: 20 lower-case hexadecimal digits. */
  versionstamp: string;
  /** The expiry in milliseconds since the epoch, if there is one. Deno KV does not report it. */
  expireAt?: number;
}

/**
 * A key to store a value under. Its last part may be the placeholder that `commitVersionstamp()`
 * returns. The versionstamp of the commit replaces it, as a string.
 */
export type KvSetKey = KvKey | readonly [...parts: KvKeyPart[], versionstamp: symbol];

/** The entry of a key. `value` and `versionstamp` are null if the key is absent. */
export type KvEntryMaybe<T> = KvEntry<T> | { key: KvKey; value: null; versionstamp: null };

/** Accepted for compatibility with Deno KV. Reads are always strongly consistent. */
export type KvConsistencyLevel = "strong" | "eventual";

/** Options of `list`. */
export interface KvListOptions {
  /** The maximum number of entries. The default is all entries of the range. */
  limit?: number | undefined;
  /** The `cursor` of an earlier iterator. The list continues after it. */
  cursor?: string | undefined;
  /** Lists from the last entry to the first. */
  reverse?: boolean | undefined;
  consistency?: KvConsistencyLevel | undefined;
  /**
   * The number of entries that are read at a time. Each batch comes from one snapshot. The default
   * is `limit`, or 100 without a `limit`. A number above the `batchSize` limit of the database (500
   * by default) counts as that limit. A batch also ends when its values reach 8 MiB together.
   */
  batchSize?: number | undefined;
}

/** Entries of a `list` in key order. Nothing is open between two, so a program may stop anytime. */
export interface KvListIterator<T> extends AsyncIterableIterator<KvEntry<T>> {
  /** The position of the last entry, after which a `list` continues. Empty before the first. */
  readonly cursor: string;
  /**
   * Returns the entries that `next()` would return without another read of the database, or those
   * of the next read. Returns none at the end. One call for many entries takes less time. Databases
   * of other libraries do not have it.
   */
  nextBatch?(): Promise<KvEntry<T>[]>;
}

/** An entry of a page. Its key and its versionstamp are decoded when they are first read. */
export interface KvListedEntry {
  readonly key: KvKey;
  /** The number of the parts of the key. */
  readonly keyLength: number;
  /** Returns a part of the key, or undefined if it has fewer parts. */
  partAt(position: number): KvKeyPart | undefined;
  /**
   * Compares the key with the keys that have a prefix: 0 if it has the prefix too, negative if it
   * sorts before them, positive if it sorts after them. No part of the key is decoded.
   */
  compareStart(prefix: KeyPrefix): number;
  /** The value, a new copy. Undefined if the page was read without values. */
  readonly value: unknown;
  readonly versionstamp: string;
  /** The expiry in milliseconds since the epoch, if there is one. */
  readonly expireAt: number | undefined;
}

/** Which entries a page has. */
export interface KvPageOptions {
  /** The maximum number of entries. */
  readonly limit: number;
  readonly reverse: boolean;
  /** False if only the keys are needed. */
  readonly withValues: boolean;
  /** The properties that are needed of values that are objects. Others may be left out. */
  readonly properties?: ReadonlySet<string> | undefined;
}

/** Which entries of several ranges are read together. */
export interface KvEachOptions extends Omit<KvPageOptions, "reverse"> {
  /** The maximum number of entries of all ranges together. `limit` is that of each range. */
  readonly most: number;
  /** A key of the first range. Only the keys after it are read. */
  readonly after?: KvKey | undefined;
}

/**
 * Reads of many entries at a time. They take less time than `list` and `getMany`, because they
 * decode only what is asked for. Pages are read in one snapshot each. The calls throw as `list` and
 * `getMany` do.
 */
export interface KvPages {
  /** True if the calls return their results and never a promise. */
  readonly listsAtOnce: boolean;

  /** Returns the first entries of a range. */
  list(
    selector: KvListSelector,
    options: KvPageOptions,
  ): KvListedEntry[] | Promise<KvListedEntry[]>;

  /**
   * Returns the first entries of each of several ranges, in one read of one snapshot. The lists are
   * in the order of the ranges. If all entries together are as many as `most`, the last list may
   * lack entries, and the lists of the ranges after it are left out.
   *
   * @param prefixes those of the keys of each range, in the order of the keys. None begins with
   * another one.
   */
  listEach(
    prefixes: readonly KeyPrefix[],
    options: KvEachOptions,
  ): KvListedEntry[][] | Promise<KvListedEntry[][]>;

  /**
   * Returns how many keys with a number of parts each of several ranges has, in one snapshot. It
   * costs less than to list the entries, but as many are read.
   *
   * @param prefixes as those of `listEach`.
   */
  countEach(prefixes: readonly KeyPrefix[], keyLength: number): number[] | Promise<number[]>;

  /**
   * Returns the entries to which others lead by their keys: those under the keys that begin with
   * `prefix` and continue with the parts of an entry's key from `from` on. An index entry whose key
   * ends in the primary key of a row leads to the row in this way. The results are in the order of
   * `entries`, and undefined if there is no such entry.
   *
   * @param entries entries of pages of the same database.
   */
  getLinked(
    entries: readonly KvListedEntry[],
    prefix: KvKey,
    from: number,
  ): (KvListedEntry | undefined)[] | Promise<(KvListedEntry | undefined)[]>;
}

/** The result of a commit that was applied. */
export interface KvCommitResult {
  /** Distinguishes the result from {@link KvCommitError}. */
  ok: true;
  /** The versionstamp of every key that the commit set. */
  versionstamp: string;
}

/** The result of a commit with a failed check. Nothing was written. */
export interface KvCommitError {
  /** Distinguishes the result from {@link KvCommitResult}. */
  ok: false;
  /** True if no check failed, and the commit was postponed. See `inTurn` of the operation. */
  isPostponed?: boolean;
}

/** A condition of an atomic operation: the key has this versionstamp. */
export interface AtomicCheck {
  key: KvKey;
  /** The versionstamp that a read or a commit returned, or null if the key must be absent. */
  versionstamp: string | null;
}

/** Options of `set`. */
export interface KvSetOptions {
  /**
   * The lifetime of the entry, in milliseconds: a positive number, rounded up. Setting the key
   * again restarts it. Setting the key without `expireIn` removes the expiry.
   */
  expireIn?: number | undefined;
}

/** Options of `enqueue`. */
export interface KvEnqueueOptions {
  /** Milliseconds before the first delivery, at most 30 days. The default is 0. */
  delay?: number | undefined;
  /**
   * Milliseconds between a failed delivery and the next, one number for each retry. At most five
   * numbers, each at most an hour. The default is 100, 1000, 5000, 30000 and 60000.
   */
  backoffSchedule?: number[] | undefined;
  /** Keys that store the message if its last delivery fails. Without keys it is dropped. */
  keysIfUndelivered?: KvKey[] | undefined;
}

/** Options of `watch`. */
export interface KvWatchOptions {
  /** Reports every noticed change, even if the versionstamps are those of the last report. */
  raw?: boolean | undefined;
}

/** One mutation of an atomic operation, as data. */
export type KvMutation =
  | { key: KvSetKey; type: "set"; value: unknown; expireIn?: number | undefined }
  | { key: KvKey; type: "delete" }
  | { key: KvKey; type: "sum" | "min" | "max"; value: { readonly value: bigint } };

/**
 * Handles a message of the queue. If it throws or rejects, the delivery has failed. A handler may
 * declare the type of the messages that the program enqueues.
 */
// biome-ignore lint/suspicious/noExplicitAny: Deno KV's type; unknown would refuse typed handlers.
export type QueueHandler = (value: any) => Promise<void> | void;

/**
 * Checks and mutations that are applied together. Nothing happens before `commit()`. Values are
 * copied when they are passed in, so a later change of an object does not change what is written.
 * `atomic()` of a database returns an instance.
 */
export abstract class AtomicOperation {
  /**
   * Adds conditions. All of them must hold at the time of the commit.
   *
   * @throws {InvalidKeyError} if a key is not valid.
   * @throws {InvalidVersionstampError} if a versionstamp is not valid.
   */
  abstract check(...checks: AtomicCheck[]): this;
  /**
   * Adds the condition that no commit after a versionstamp has set or deleted a key of a range. All
   * conditions must hold at the time of the commit. Together with checks of the keys that were
   * read, the commit is made only if a read of the range would still return the same.
   *
   * An entry that expires stays in its range until it is removed, so check its key too. The
   * database knows what its latest commits have changed, such as those of the last 8 MiB of keys
   * since it was opened. The condition fails if the versionstamp is from before them.
   *
   * An extension of Deno's interface. It exists if `checksRanges` of the database is true.
   *
   * @param selector the range, as for `list`.
   * @param versionstamp that of a view, an entry or a commit, up to which the range is known.
   * @throws {InvalidSelectorError} if the selector is not valid.
   * @throws {InvalidKeyError} if a key in the selector is not valid.
   * @throws {InvalidVersionstampError} if the versionstamp is not valid. `commit()` rejects with it
   * if no commit has the versionstamp yet.
   * @throws {RangeChecksUnsupportedError} if the database cannot check ranges.
   */
  checkRange?(selector: KvListSelector, versionstamp: string): this;
  /**
   * Declares that the commit belongs to a turn of `turns` of the database. Without a turn, it
   * declares that the commit may be postponed: `{ ok: false, isPostponed: true }` then says that
   * another call has its turn and uses the same keys.
   *
   * An extension of Deno's interface. It exists if the database has `turns`.
   */
  inTurn?(turn: Turn | undefined): this;
  /**
   * Adds mutations that are given as data. Each also throws as the method of its name does.
   *
   * @throws {InvalidOptionError} if the type is unknown, if a `delete` has a value, or if another
   * mutation has none.
   */
  abstract mutate(...mutations: KvMutation[]): this;
  /**
   * Stores a value under a key. Replaces the value that is stored there.
   *
   * @throws {InvalidKeyError} if the key is not valid.
   * @throws {UnsupportedValueError} if the structured clone algorithm does not copy the value. The
   * error has the path to the part that is not copied.
   * @throws {InvalidOptionError} if `expireIn` is not a positive number.
   * @throws {LimitExceededError} if the key or the value has too many bytes.
   */
  abstract set(key: KvSetKey, value: unknown, options?: KvSetOptions): this;
  /** Deletes a key. Does nothing if it is absent. */
  abstract delete(key: KvKey): this;
  /**
   * Adds `n` to the `KvU64` under a key, modulo 2^64, or stores `n` if the key is absent.
   *
   * @throws {TypeError} if `n` is not a bigint.
   * @throws {RangeError} if `n` is negative, or 2^64 or more.
   */
  abstract sum(key: KvKey, n: bigint): this;
  /** Stores `n` if the `KvU64` under a key is larger or the key is absent. Throws as `sum` does. */
  abstract min(key: KvKey, n: bigint): this;
  /** Stores `n` if the `KvU64` under a key is smaller or absent. Throws as `sum` does. */
  abstract max(key: KvKey, n: bigint): this;
  /**
   * Puts a message in the queue. It is delivered to a handler of `listenQueue`, at least once.
   *
   * @throws {UnsupportedValueError} if the structured clone algorithm does not copy the value.
   * @throws {InvalidOptionError} if an option is not valid.
   */
  abstract enqueue(value: unknown, options?: KvEnqueueOptions): this;
  /**
   * Says something about the commit, for example who makes it and why. `changes` of the database
   * returns it with the commit. It is not stored if the database keeps no log. A second call
   * replaces the value.
   *
   * An extension of Deno's interface.
   *
   * @throws {UnsupportedValueError} if the structured clone algorithm does not copy the value.
   * @throws {LimitExceededError} if the value has too many bytes.
   */
  context?(value: unknown): this;
  /**
   * Applies all mutations, or none if a check fails.
   *
   * @throws {NotU64Error} if the value for `sum`, `min` or `max` is not a `KvU64`. Nothing is
   * written.
   * @throws {LimitExceededError} if the operation has too many checks, mutations or bytes.
   * @throws {CorruptionError} if the record of a key that the operation depends on is damaged.
   * @throws {ReadOnlyError} if the database was opened read-only.
   * @throws {DatabaseClosedError} after `close()`.
   * @throws {EngineFailedError} if the storage engine failed.
   */
  abstract commit(): Promise<KvCommitResult | KvCommitError>;
}

/** What the handler of a consumer gets: one commit of the log. */
export interface KvDelivery<T = unknown> {
  readonly commit: KvLoggedCommit<T>;
  /** The number of the attempt to handle the commit by this process, from 1. */
  readonly attempt: number;
  /**
   * Aborted if the handler takes too long, if another process has taken the consumer over, and when
   * the consumer is stopped. The handler should then end.
   */
  readonly signal: AbortSignal;
  /**
   * Returns an operation whose commit also says that the commit of the log was handled. Its writes
   * therefore happen exactly once. `commit()` rejects with a `ConsumerLostError`, and nothing is
   * written, if another process has the consumer by now, or if the commit was handled before. It
   * returns `{ ok: false }` if a check of the operation itself failed.
   */
  atomic(): AtomicOperation;
}

/** Handles one commit of the log. If it throws or rejects, it is called again. */
export type KvConsumerHandler<T = unknown> = (delivery: KvDelivery<T>) => Promise<void> | void;

/** What `onError` of a consumer gets. */
export interface KvConsumerFailure<T = unknown> {
  readonly consumer: string;
  /** The commit that was not handled. Undefined if the database did not answer. */
  readonly commit: KvLoggedCommit<T> | undefined;
  /** The number of failures in a row, from 1. */
  readonly attempt: number;
}

/** Options of `kv.consume`. */
export interface KvConsumeOptions<T = unknown> {
  /**
   * Where a consumer begins that does not exist yet: after the commit of a versionstamp, with the
   * oldest commit of the log (`"start"`, the default), or with the next commit (`"now"`).
   */
  readonly from?: "start" | "now" | (string & {}) | undefined;
  /** Only changes of keys with this prefix. */
  readonly prefix?: KvKey | undefined;
  /** Stops the consumer, after the handler that is running. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called if the handler fails, and if the database does not answer. Writes to the console by
   * default.
   */
  readonly onError?: ((error: unknown, failure: KvConsumerFailure<T>) => void) | undefined;
  /**
   * How many milliseconds to wait after a failure, by the number of failures in a row, from 1. By
   * default 100 ms, twice as long after each further failure, and at most 30 seconds.
   */
  readonly retryDelay?: ((attempt: number) => number) | undefined;
  /**
   * How many milliseconds the handler may take for one commit. Then it has failed. The default is
   * five minutes.
   */
  readonly timeout?: number | undefined;
  /**
   * After how many milliseconds without a sign of life another process takes the consumer over. It
   * gives one three times as often. The default is 15 seconds.
   */
  readonly lease?: number | undefined;
}

/**
 * An ordered key-value database with Deno KV's names, arguments and results. The databases that
 * `openKv`, `Deno.openKv()` and `openKv()` of `@deno/kv` open have this interface. A program that
 * is written for one of them runs on the others.
 *
 * The calls of a database that `openKv` opened throw or reject with `InvalidKeyError` if a key is
 * not valid, `LimitExceededError` if a limit of the database is exceeded, `DatabaseClosedError`
 * after `close()`, `CorruptionError` if stored bytes are damaged, and `EngineFailedError` if the
 * storage engine failed.
 */
export interface Kv {
  /** Reads one key. */
  get<T = unknown>(
    key: KvKey,
    options?: { consistency?: KvConsistencyLevel },
  ): Promise<KvEntryMaybe<T>>;

  /** Reads several keys from one snapshot. The results are in the order of the keys. */
  getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
    options?: { consistency?: KvConsistencyLevel },
  ): Promise<{ [K in keyof T]: KvEntryMaybe<T[K]> }>;

  /** Stores a value under a key. Replaces the value that is stored there. */
  set(key: KvSetKey, value: unknown, options?: KvSetOptions): Promise<KvCommitResult>;

  /** Deletes a key. Does nothing if it is absent. */
  delete(key: KvKey): Promise<void>;

  /**
   * Iterates over the entries of a range in key order.
   *
   * @throws {InvalidSelectorError} if the selector or an option is not valid.
   */
  list<T = unknown>(selector: KvListSelector, options?: KvListOptions): KvListIterator<T>;

  /** Returns a new atomic operation. */
  atomic(): AtomicOperation;

  /** Puts a message in the queue. It is delivered to a handler of `listenQueue`, at least once. */
  enqueue(value: unknown, options?: KvEnqueueOptions): Promise<KvCommitResult>;

  /**
   * Delivers the messages of the queue to `handler`, in turn with the other handlers of all handles
   * in this process. Resolves after `close()` of this handle. If the storage engine fails, or finds
   * damage that is not that of one message, all calls reject with its error.
   *
   * If a handler throws or rejects, the error goes to `console.error`, and the message is delivered
   * again according to its backoff schedule. After the last delivery it is stored under its
   * `keysIfUndelivered`. All handlers together have at most 100 messages at a time. The process
   * stays alive while a handler listens.
   *
   * @throws {InvalidOptionError} if `handler` is not a function.
   * @throws {ReadOnlyError} if the database was opened read-only.
   */
  listenQueue(handler: QueueHandler): Promise<void>;

  /**
   * Returns a stream of the latest state of keys. It reports the state at once, after each commit
   * that changed one of the keys, and when one of them expires. Changes that come faster than they
   * are read are reported as one. The stream ends when the database is closed.
   */
  watch<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
    options?: KvWatchOptions,
  ): ReadableStream<{ [K in keyof T]: KvEntryMaybe<T[K]> }>;

  /**
   * Verifies the checksums of all files of a database on disk, while other calls continue. If it
   * finds damage, all other calls then fail with a `CorruptionError`. Resolves with undefined if
   * the database has no files that can be verified, for example in memory. Deno's `Kv` has no such
   * method.
   */
  verifyFiles?(options?: VerifyFilesOptions): Promise<FileReport | undefined>;

  /**
   * Opens reads of the state that the database has now, or at the first read. Returns undefined if
   * it cannot. Deno's `Kv` has no such method.
   */
  openView?(options?: OpenViewOptions): MaybePromise<KvView | undefined>;

  /** Reads the log of commits. Deno's `Kv` has no such method. */
  changes?<T = unknown>(options?: KvChangesOptions): AsyncIterableIterator<KvLoggedCommit<T>>;

  /** Reads one commit of the log. Deno's `Kv` has no such method. */
  commitAt?<T = unknown>(
    versionstamp: string,
    options?: Pick<KvChangesOptions, "prefix" | "key">,
  ): Promise<KvLoggedCommit<T> | undefined>;

  /** Finds the last change of a key in the log. Deno's `Kv` has no such method. */
  lastChange?<T = unknown>(key: KvKey, options?: KvLastChangeOptions): Promise<KvLastChange<T>>;

  /** Runs a named consumer of the log. Deno's `Kv` has no such method. */
  consume?<T = unknown>(
    name: string,
    handler: KvConsumerHandler<T>,
    options?: KvConsumeOptions<T>,
  ): Promise<void>;

  /** Returns all consumers of the log. Deno's `Kv` has no such method. */
  consumers?(): Promise<KvConsumer[]>;

  /** Forgets a consumer of the log. Deno's `Kv` has no such method. */
  removeConsumer?(name: string): Promise<boolean>;

  /** Opens reads of an earlier state, by the log. Deno's `Kv` has no such method. */
  openPast?(moment: string | Date, options?: OpenPastOptions): Promise<KvView | undefined>;

  /** Faster reads of many entries. Deno's `Kv` has none, nor has a database in its mode. */
  readonly pages?: KvPages | undefined;

  /** True if an atomic operation can check ranges. Deno's `Kv` cannot. */
  readonly checksRanges?: boolean;

  /**
   * The line for calls that have lost several attempts because others have changed the same keys.
   * Deno's `Kv` has none.
   */
  readonly turns?: Turns;

  /**
   * Returns the entry of a key as it was when a turn began, if it came with the turn. Returns it
   * only once. Exists if the database has `turns`.
   */
  takeEntry?<T = unknown>(turn: Turn, key: KvKey): Promise<KvEntryMaybe<T>> | undefined;

  /** Ends watches and listeners, and refuses all further calls. */
  close(): void | Promise<void>;

  /** Closes the database at the end of a `using` block. */
  [Symbol.dispose](): void;
}

/**
 * Reads of one state of a database, as `openView` returns them. `list` also returns entries that
 * have expired since the view was opened.
 */
export interface KvView extends Pick<Kv, "get" | "getMany" | "list" | "pages"> {
  /** The limits of the database. */
  readonly limits: KvLimits;
  /**
   * A versionstamp for `checkRange`: all commits up to it are in the view. Undefined if the
   * database cannot check ranges, and before the first read with `atFirstRead`.
   */
  readonly versionstamp?: string | undefined;
  /** Frees what the view holds. Its later reads reject with a `ReadViewEndedError`. */
  close(): void;
  /** Closes the view at the end of a `using` block. */
  [Symbol.dispose](): void;
}

/** Options of `verifyFiles`. */
export interface VerifyFilesOptions {
  /** Called after each file. */
  readonly onProgress?: ((progress: Progress<"checking">) => void) | undefined;
}

/** A key as Deno's types declare it: the placeholder of `commitVersionstamp()` may be any part. */
type WideKey = readonly (KvKeyPart | symbol)[];

interface WideEntry<T> {
  key: WideKey;
  value: T | null;
  versionstamp: string | null;
}

/**
 * Any database with the interface of Deno KV, as each package declares it: {@link Kv}, the `Kv` of
 * `@deno/kv`, and `Deno.Kv`.
 */
export interface KvLike
  extends Pick<
    Kv,
    "set" | "delete" | "atomic" | "enqueue" | "listenQueue" | "verifyFiles" | "openView" | "close"
  > {
  get<T = unknown>(key: KvKey): Promise<WideEntry<T>>;
  getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
  ): Promise<{ [K in keyof T]: WideEntry<T[K]> }>;
  list<T = unknown>(
    selector: KvListSelector,
    options?: KvListOptions,
  ): AsyncIterableIterator<{ key: WideKey; value: T; versionstamp: string }> & {
    readonly cursor: string;
  };
}
