import type { KvKey, KvKeyPart } from "../keys/key.js";
import type { KvListSelector } from "../keys/key-range.js";

/** A stored value with its key and versionstamp. */
export interface KvEntry<T> {
  key: KvKey;
  value: T;
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

export type KvConsistencyLevel = "strong" | "eventual";

export interface KvListOptions {
  /** Entries at the most; without it, all of the range. */
  limit?: number;
  /** Where an earlier iterator stopped: its `cursor`. */
  cursor?: string;
  /** From the last entry to the first. */
  reverse?: boolean;
  /** Accepted for Deno KV's sake: reads are always strongly consistent here. */
  consistency?: KvConsistencyLevel;
  /**
   * How many entries are read at a time; each batch comes from one snapshot. Without it as many as `limit`, or 100
   * without that. More than 500 are taken for 500.
   */
  batchSize?: number;
}

/** The entries of a `list`, in order of their keys. It holds nothing open between two of them: it may be left anywhere. */
export interface KvListIterator<T> extends AsyncIterableIterator<KvEntry<T>> {
  /** Where the entry last returned stands; `list` with this cursor goes on behind it. Empty before the first entry. */
  readonly cursor: string;
}

export interface KvCommitResult {
  ok: true;
  /** The versionstamp that every key of the commit got. */
  versionstamp: string;
}

/** A check failed, and nothing was written. */
export interface KvCommitError {
  ok: false;
}

/** A condition of an atomic operation: the key has this versionstamp, or is absent where it is null. */
export interface AtomicCheck {
  key: KvKey;
  versionstamp: string | null;
}

export interface KvSetOptions {
  /** For how long the entry is there, in milliseconds. Setting the key again starts anew, and without it ends that. */
  expireIn?: number;
}

export interface KvEnqueueOptions {
  /** Milliseconds before the message is delivered for the first time. 0 without it; 30 days at the most. */
  delay?: number;
  /**
   * Milliseconds between a failed delivery and the next, one for each retry: at most five, each an hour at the most.
   * Without it 100, 1000, 5000, 30000 and 60000.
   */
  backoffSchedule?: number[];
  /** Keys under which the message is stored when its last delivery has failed. Without them it is dropped then. */
  keysIfUndelivered?: KvKey[];
}

export interface KvWatchOptions {
  /** Report each change that is noticed, also where all keys have the versionstamps that were reported last. */
  raw?: boolean;
}

/** One change of an atomic operation, as data. */
export type KvMutation = { key: KvKey } & (
  | { type: "set"; value: unknown; expireIn?: number }
  | { type: "delete" }
  | { type: "sum" | "min" | "max"; value: { readonly value: bigint } }
);

/**
 * Checks and mutations that are applied together. Nothing happens before `commit`; values are copied when they are
 * handed over, so that changing an object afterwards does not change what is written.
 */
export interface AtomicOperation {
  /** Adds conditions. All of them must hold at the time of the commit. */
  check(...checks: AtomicCheck[]): this;
  /** Adds changes that are given as data. */
  mutate(...mutations: KvMutation[]): this;
  /** Stores a value under a key, in place of the one that is there. */
  set(key: KvSetKey, value: unknown, options?: KvSetOptions): this;
  /** Removes a key; does nothing where it is absent. */
  delete(key: KvKey): this;
  /** Adds `n` to the `KvU64` under a key, modulo 2^64, or stores `n` where there is none. */
  sum(key: KvKey, n: bigint): this;
  /** Stores `n` in place of a larger `KvU64` under a key, or where there is none. */
  min(key: KvKey, n: bigint): this;
  /** Stores `n` in place of a smaller `KvU64` under a key, or where there is none. */
  max(key: KvKey, n: bigint): this;
  /** Puts a message in the queue: it is delivered to a handler of `listenQueue`, at least once. */
  enqueue(value: unknown, options?: KvEnqueueOptions): this;
  /** Applies all of it, or where a check fails none of it. */
  commit(): Promise<KvCommitResult | KvCommitError>;
}

/**
 * An ordered key-value database with Deno KV's names, arguments and results. Databases that `openKv` opens have this
 * interface, and so have `Deno.openKv()` and `openKv()` of `@deno/kv`: what is written for one runs on the others.
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

  /** Iterates over the entries of a range in order of their keys. */
  list<T = unknown>(selector: KvListSelector, options?: KvListOptions): KvListIterator<T>;

  /** Begins an atomic operation. */
  atomic(): AtomicOperation;

  /** Puts a message in the queue: it is delivered to a handler of `listenQueue`, at least once. */
  enqueue(value: unknown, options?: KvEnqueueOptions): Promise<KvCommitResult>;

  /**
   * Has the messages of the queue delivered to `handler` until the database is closed; then it resolves. A message whose
   * handler throws or rejects is delivered again, by its backoff schedule.
   */
  listenQueue(handler: (value: unknown) => Promise<void> | void): Promise<void>;

  /**
   * The latest state of keys: at once, and again after each commit that changed one of them. Changes that come faster than
   * they are read are reported as one. The stream ends when the database is closed.
   */
  watch<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
    options?: KvWatchOptions,
  ): ReadableStream<{ [K in keyof T]: KvEntryMaybe<T[K]> }>;

  close(): void | Promise<void>;

  [Symbol.dispose](): void;
}
