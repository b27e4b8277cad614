import type { MaybePromise, OpenViewOptions, Turn, Turns } from "../engine/engine.js";
import type { FileReport } from "../engine/files/file-report.js";
import type { Progress } from "../engine/progress.js";
import type { KvKey, KvKeyPart } from "../keys/key.js";
import type { KvListSelector } from "../keys/key-range.js";
import type {
  AtomicOperation,
  KvCommitResult,
  KvEnqueueOptions,
  KvSetKey,
  KvSetOptions,
} from "./atomic-operation.js";
import type { KvConsumeOptions, KvConsumerHandler } from "./consume/consume-types.js";
import type { KvConsumer } from "./consume/list-consumers.js";
import type { KvPages } from "./kv-pages.js";
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

/** Options of `watch`. */
export interface KvWatchOptions {
  /** Reports every noticed change, even if the versionstamps are those of the last report. */
  raw?: boolean | undefined;
}

/**
 * Handles a message of the queue. If it throws or rejects, the delivery has failed. A handler may
 * declare the type of the messages that the program enqueues.
 */
// biome-ignore lint/suspicious/noExplicitAny: Deno KV's type; unknown would refuse typed handlers.
export type QueueHandler = (value: any) => Promise<void> | void;

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
