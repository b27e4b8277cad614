import type { KvKey } from "../keys/key.js";
import type { KvListSelector } from "../keys/key-range.js";

/** A stored value with its key and versionstamp. */
export interface KvEntry<T> {
  key: KvKey;
  value: T;
  versionstamp: string;
}

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

/**
 * Checks and mutations that are applied together. Nothing happens before `commit`; values are copied when they are
 * handed over, so that changing an object afterwards does not change what is written.
 */
export interface AtomicOperation {
  /** Adds conditions. All of them must hold at the time of the commit. */
  check(...checks: AtomicCheck[]): this;
  /** Stores a value under a key, in place of the one that is there. */
  set(key: KvKey, value: unknown): this;
  /** Removes a key; does nothing where it is absent. */
  delete(key: KvKey): this;
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
  set(key: KvKey, value: unknown): Promise<KvCommitResult>;

  /** Removes a key; does nothing where it is absent. */
  delete(key: KvKey): Promise<void>;

  /** Iterates over the entries of a range in order of their keys. */
  list<T = unknown>(selector: KvListSelector, options?: KvListOptions): KvListIterator<T>;

  /** Begins an atomic operation. */
  atomic(): AtomicOperation;

  close(): void | Promise<void>;
}
