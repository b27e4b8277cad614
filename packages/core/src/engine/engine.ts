import type { KeyRange } from "../keys/key-range.js";

/**
 * A result that is returned at once if the engine has it, or a promise if the engine has to wait.
 */
export type MaybePromise<T> = T | Promise<T>;

/** An entry as an engine stores it. */
export interface StoredEntry {
  readonly key: Uint8Array;
  /** An encoded value. It may be the engine's own memory, so it must not be modified. */
  readonly value: Uint8Array;
  readonly versionstamp: string;
  /**
   * The time from which the entry no longer exists, in milliseconds since the epoch. Undefined if
   * the entry does not expire.
   */
  readonly expireAt: number | undefined;
}

/** A condition of an atomic write: the key has this versionstamp, or no entry if it is null. */
export interface StoredCheck {
  readonly key: Uint8Array;
  readonly versionstamp: string | null;
}

/** Stores a value under a key. */
export interface StoredSet {
  readonly type: "set";
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** Milliseconds since the epoch. Without it the entry does not expire. */
  readonly expireAt?: number;
  /** True if the versionstamp of the write is appended to the key as a string part. */
  readonly endsInVersionstamp?: boolean;
}

/** Deletes an entry if it has expired. */
export interface DeleteExpired {
  readonly type: "deleteExpired";
  readonly key: Uint8Array;
  /**
   * The hint that led to the entry. It is deleted too, unless the entry has yet to expire and does
   * so by `dueAt` (milliseconds since the epoch).
   */
  readonly hint?: { readonly key: Uint8Array; readonly dueAt: number };
}

/**
 * A change of one key. Keys that begin with a zero byte belong to the database. Readers of entries
 * do not see them.
 */
export type StoredMutation =
  | StoredSet
  | { readonly type: "delete"; readonly key: Uint8Array }
  | DeleteExpired
  /**
   * Combines `operand` with the stored `KvU64`, or stores `operand` if there is none. A sum is
   * taken modulo 2^64. If another value is stored, the outcome of the write is an error.
   */
  | { readonly type: "sum" | "min" | "max"; readonly key: Uint8Array; readonly operand: bigint };

/** Mutations that are applied in order: all of them, or none if a check fails. */
export interface AtomicWrite {
  readonly checks: readonly StoredCheck[];
  readonly mutations: readonly StoredMutation[];
  /**
   * True if the write must be on disk before it is acknowledged, so that it survives a power cut.
   * Every acknowledged write survives a killed process.
   */
  readonly sync: boolean;
}

/**
 * The versionstamp of an applied write, null if a check failed, or an error if a key that the write
 * depends on is unreadable or has a value of the wrong type.
 */
export type WriteOutcome = string | null | Error;

/** The limits of an engine. */
export interface EngineLimits {
  /** The maximum number of checks of one atomic write. */
  readonly checks: number;
  /** The maximum number of mutations of one atomic write. */
  readonly mutations: number;
}

export interface RangeRead {
  readonly range: KeyRange;
  /** The maximum number of entries, at least 1. */
  readonly limit: number;
  /** True to read from the end of the range backwards. */
  readonly reverse: boolean;
}

/**
 * The port below the Kv facade. It handles only bytes. Its shape follows the `Database` trait of
 * Deno's `denokv` (MIT).
 *
 * Each read sees one state of the database, which contains all of an atomic write or none of it.
 */
export interface Engine {
  readonly limits: EngineLimits;

  /** Returns the entry of a key, or undefined if there is none. */
  get(key: Uint8Array): MaybePromise<StoredEntry | undefined>;

  /** Returns the entries of keys from one snapshot, in the order of `keys`. */
  getMany(keys: readonly Uint8Array[]): MaybePromise<(StoredEntry | undefined)[]>;

  /**
   * Returns the first entries of a range from one snapshot, in order. There are `limit` of them, or
   * fewer if the range ends or if their values reach {@link maxRangeBytes} in total. To find out
   * which, call {@link isRangeEnd}.
   */
  getRange(read: RangeRead): Promise<StoredEntry[]>;

  /**
   * Applies writes one after another as one durable step, and returns an outcome for each. The
   * commit queue ensures that it is not called again before it has returned the outcomes.
   */
  commit(writes: readonly AtomicWrite[]): Promise<WriteOutcome[]>;

  /**
   * Calls `onChange` after each commit that wrote or deleted one of the keys. The returned function
   * ends the watch.
   */
  watch(keys: readonly Uint8Array[], onChange: () => void): () => void;

  /**
   * Calls `onChange` with the affected keys after each commit that wrote or deleted keys in one of
   * the ranges. The returned function ends the watch.
   *
   * The database's own keys are in a range only if `getRange` would return them. A key that was
   * written several times may occur several times. The keys are valid only during the call, so
   * `onChange` must copy the ones that it keeps.
   */
  watchRanges(
    ranges: readonly KeyRange[],
    onChange: (keys: readonly Uint8Array[]) => void,
  ): () => void;

  close(): Promise<void>;
}

/** True if the entry no longer exists at the time `now`, in milliseconds since the epoch. */
export function hasExpired({ expireAt }: Pick<StoredEntry, "expireAt">, now: number): boolean {
  return expireAt !== undefined && expireAt <= now;
}

/** A read of a range stops when the values of its entries reach this many bytes in total. */
export const maxRangeBytes: number = 8 * 1024 * 1024;

/**
 * True if a range has no more entries than `entries`, which `getRange` returned for this `limit`.
 */
export function isRangeEnd(entries: readonly StoredEntry[], limit: number): boolean {
  if (entries.length >= limit) return false;
  let bytes = 0;
  for (const { value } of entries) bytes += value.length;
  return bytes < maxRangeBytes;
}
