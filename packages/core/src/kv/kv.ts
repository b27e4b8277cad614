import type { KvKey, KvKeyPart } from "../keys/key.js";
import type { KvListSelector } from "../keys/key-range.js";

/** A stored value with its key and versionstamp. */
export interface KvEntry<T> {
  /** The key: of `get` and `getMany` a copy of the one that was asked for. */
  key: KvKey;
  /** The value, a copy of the reader's own. */
  value: T;
  /** The versionstamp of the commit that stored it: 20 lower-case hexadecimal digits. */
  versionstamp: string;
  /**
   * Only where the entry expires: from when on it is not there any more, in milliseconds since the epoch. Deno KV does not
   * tell it.
   */
  expireAt?: number;
}

/**
 * A key to store a value under. Its last part may be what `commitVersionstamp()` returns: the versionstamp of the commit
 * takes its place, as a string.
 */
export type KvSetKey = KvKey | readonly [...parts: KvKeyPart[], versionstamp: symbol];

/** What is stored under a key; value and versionstamp are null where nothing is. */
export type KvEntryMaybe<T> = KvEntry<T> | { key: KvKey; value: null; versionstamp: null };

/** Accepted for Deno KV's sake: reads are always strongly consistent here. */
export type KvConsistencyLevel = "strong" | "eventual";

/** How `list` reads. */
export interface KvListOptions {
  /** Entries at the most; without it, all of the range. */
  limit?: number | undefined;
  /** Where an earlier iterator stopped: its `cursor`. */
  cursor?: string | undefined;
  /** From the last entry to the first. */
  reverse?: boolean | undefined;
  /** {@link KvConsistencyLevel} */
  consistency?: KvConsistencyLevel | undefined;
  /**
   * How many entries are read at a time; each batch comes from one snapshot. Without it as many as `limit`, or 100
   * without that. More than 500 are taken for 500, and a batch ends where its values have 8 MiB together.
   */
  batchSize?: number | undefined;
}

/** The entries of a `list`, in order of their keys. It holds nothing open between two of them: it may be left anywhere. */
export interface KvListIterator<T> extends AsyncIterableIterator<KvEntry<T>> {
  /** Where the entry last returned stands; `list` with this cursor goes on behind it. Empty before the first entry. */
  readonly cursor: string;
}

/** A commit was applied. */
export interface KvCommitResult {
  /** Tells it from {@link KvCommitError}. */
  ok: true;
  /** The versionstamp that every key of the commit got. */
  versionstamp: string;
}

/** A check failed, and nothing was written. */
export interface KvCommitError {
  /** Tells it from {@link KvCommitResult}. */
  ok: false;
}

/** A condition of an atomic operation: the key has this versionstamp, or is absent where it is null. */
export interface AtomicCheck {
  /** The key to look at. */
  key: KvKey;
  /** The versionstamp that a read or a commit gave, null for "absent". */
  versionstamp: string | null;
}

/** How a value is set. */
export interface KvSetOptions {
  /**
   * For how long the entry is there, in milliseconds: a positive number, rounded up. Setting the key again starts anew, and
   * without it ends that.
   */
  expireIn?: number | undefined;
}

/** How a message is delivered. */
export interface KvEnqueueOptions {
  /** Milliseconds before the message is delivered for the first time. 0 without it; 30 days at the most. */
  delay?: number | undefined;
  /**
   * Milliseconds between a failed delivery and the next, one for each retry: at most five, each an hour at the most.
   * Without it 100, 1000, 5000, 30000 and 60000.
   */
  backoffSchedule?: number[] | undefined;
  /** Keys under which the message is stored when its last delivery has failed. Without them it is dropped then. */
  keysIfUndelivered?: KvKey[] | undefined;
}

/** What `watch` reports. */
export interface KvWatchOptions {
  /** Report each change that is noticed, also where all keys have the versionstamps that were reported last. */
  raw?: boolean | undefined;
}

/** One change of an atomic operation, as data. */
export type KvMutation =
  | { key: KvSetKey; type: "set"; value: unknown; expireIn?: number | undefined }
  | { key: KvKey; type: "delete" }
  | { key: KvKey; type: "sum" | "min" | "max"; value: { readonly value: bigint } };

/**
 * Takes a message; where it throws or rejects, the delivery has failed. Whoever listens knows what is enqueued, so that a
 * handler may say the type of its messages.
 */
// biome-ignore lint/suspicious/noExplicitAny: Deno KV's type; with unknown a handler of a type of its own would not fit.
export type QueueHandler = (value: any) => Promise<void> | void;

/**
 * Checks and mutations that are applied together. Nothing happens before `commit`; values are copied when they are
 * handed over, so that changing an object afterwards does not change what is written.
 */
export interface AtomicOperation {
  /**
   * Adds conditions. All of them must hold at the time of the commit.
   *
   * @throws {InvalidKeyError} for what is no key.
   * @throws {InvalidVersionstampError} for what is no versionstamp.
   */
  check(...checks: AtomicCheck[]): this;
  /**
   * Adds changes that are given as data.
   *
   * @throws {InvalidOptionError} for a type or a value that no mutation has, and as the method of that name.
   */
  mutate(...mutations: KvMutation[]): this;
  /**
   * Stores a value under a key, in place of the one that is there.
   *
   * @throws {InvalidKeyError} for what is no key.
   * @throws {UnsupportedValueError} for a value that the structured clone algorithm does not copy, with the path to it.
   * @throws {InvalidOptionError} for an `expireIn` that is no positive number.
   * @throws {LimitExceededError} for a key or a value of more bytes than the database takes.
   */
  set(key: KvSetKey, value: unknown, options?: KvSetOptions): this;
  /** Removes a key; does nothing where it is absent. */
  delete(key: KvKey): this;
  /**
   * Adds `n` to the `KvU64` under a key, modulo 2^64, or stores `n` where there is none.
   *
   * @throws {TypeError} for an `n` that is no bigint, {RangeError} for one that is negative or from 2^64 on.
   */
  sum(key: KvKey, n: bigint): this;
  /** Stores `n` in place of a larger `KvU64` under a key, or where there is none. Throws as `sum`. */
  min(key: KvKey, n: bigint): this;
  /** Stores `n` in place of a smaller `KvU64` under a key, or where there is none. Throws as `sum`. */
  max(key: KvKey, n: bigint): this;
  /**
   * Puts a message in the queue: it is delivered to a handler of `listenQueue`, at least once.
   *
   * @throws {UnsupportedValueError} and {InvalidOptionError} as `set`.
   */
  enqueue(value: unknown, options?: KvEnqueueOptions): this;
  /**
   * Applies all of it, or where a check fails none of it.
   *
   * @throws {NotU64Error} where `sum`, `min` or `max` meets another value. Nothing is written.
   * @throws {LimitExceededError} for more checks, mutations or bytes than the database takes at once.
   * @throws {CorruptionError} where the record of a key that it depends on is damaged.
   * @throws {ReadOnlyError} where the database was opened for reading only.
   * @throws {DatabaseClosedError} after `close()`.
   * @throws {EngineFailedError} where the storage engine failed.
   */
  commit(): Promise<KvCommitResult | KvCommitError>;
}

/**
 * An ordered key-value database with Deno KV's names, arguments and results. Databases that `openKv` opens have this
 * interface, and so have `Deno.openKv()` and `openKv()` of `@deno/kv`: what is written for one runs on the others.
 *
 * Of a database that `openKv` opened, every call rejects or throws with `InvalidKeyError` for what is no key,
 * `LimitExceededError` for more than the database takes at once, `DatabaseClosedError` after `close()`, `CorruptionError`
 * where stored bytes do not check, and `EngineFailedError` where the storage engine failed.
 */
export interface Kv {
  /** Reads one key. */
  get<T = unknown>(
    key: KvKey,
    options?: { consistency?: KvConsistencyLevel },
  ): Promise<KvEntryMaybe<T>>;

  /** Reads several keys from one snapshot; the results are in the order of the keys. */
  getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
    options?: { consistency?: KvConsistencyLevel },
  ): Promise<{ [K in keyof T]: KvEntryMaybe<T[K]> }>;

  /** Stores a value under a key, in place of the one that is there. */
  set(key: KvSetKey, value: unknown, options?: KvSetOptions): Promise<KvCommitResult>;

  /** Removes a key; does nothing where it is absent. */
  delete(key: KvKey): Promise<void>;

  /**
   * Iterates over the entries of a range in order of their keys.
   *
   * @throws {InvalidSelectorError} for a selector or an option that is not valid.
   */
  list<T = unknown>(selector: KvListSelector, options?: KvListOptions): KvListIterator<T>;

  /** Begins an atomic operation. */
  atomic(): AtomicOperation;

  /** Puts a message in the queue: it is delivered to a handler of `listenQueue`, at least once. */
  enqueue(value: unknown, options?: KvEnqueueOptions): Promise<KvCommitResult>;

  /**
   * Has the messages of the queue delivered to `handler` until the database is closed; then it resolves. A message whose
   * handler throws or rejects is delivered again, by its backoff schedule; the error goes to `console.error`. Handlers have
   * 100 messages at a time at the most. While somebody listens, the process stays alive.
   *
   * @throws {ReadOnlyError} where the database was opened for reading only, and the engine's error where it fails.
   */
  listenQueue(handler: QueueHandler): Promise<void>;

  /**
   * The latest state of keys: at once, and again after each commit that changed one of them, or when one expires. Changes
   * that come faster than they are read are reported as one. The stream ends when the database is closed.
   */
  watch<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
    options?: KvWatchOptions,
  ): ReadableStream<{ [K in keyof T]: KvEntryMaybe<T[K]> }>;

  /** Ends watches and listeners, and refuses all further calls. */
  close(): void | Promise<void>;

  /** Closes the database at the end of a `using` block. */
  [Symbol.dispose](): void;
}

/** Keys as Deno's own types have them: they count the placeholder of `commitVersionstamp()` among the parts. */
type WideKey = readonly (KvKeyPart | symbol)[];

interface WideEntry<T> {
  key: WideKey;
  value: T | null;
  versionstamp: string | null;
}

/**
 * Any database with the interface of Deno KV, whatever types it was written with: {@link Kv}, that of `@deno/kv`, and
 * `Deno.Kv`.
 */
export interface KvLike
  extends Pick<Kv, "set" | "delete" | "atomic" | "enqueue" | "listenQueue" | "close"> {
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
