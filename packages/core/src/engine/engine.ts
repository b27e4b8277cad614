import type { KeyRange } from "../keys/key-range.js";

/** An answer at once where the engine has it at hand, a promise of it where it has to wait. */
export type MaybePromise<T> = T | Promise<T>;

/** What an engine stores under a key. */
export interface StoredEntry {
  readonly key: Uint8Array;
  /** An encoded value. It may be memory of the engine's own: it is read, never written to. */
  readonly value: Uint8Array;
  readonly versionstamp: string;
  /** From this time on the entry is not there any more: milliseconds since the epoch. Undefined where it stays. */
  readonly expireAt: number | undefined;
}

/** A condition of an atomic write: the key has this versionstamp, or is absent where it is null. */
export interface StoredCheck {
  readonly key: Uint8Array;
  readonly versionstamp: string | null;
}

/** Stores a value under a key. */
export interface StoredSet {
  readonly type: "set";
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** Milliseconds since the epoch; without it the entry stays. */
  readonly expireAt?: number;
  /** The versionstamp of the write is appended to the key, as one more string part. */
  readonly endsInVersionstamp?: boolean;
}

/** Removes an entry that has expired, and leaves one that has not. */
export interface DeleteExpired {
  readonly type: "deleteExpired";
  readonly key: Uint8Array;
  /** What leads to the entry: it is removed too, but where the entry is still there and expires by `dueAt`. */
  readonly hint?: { readonly key: Uint8Array; readonly dueAt: number };
}

/** A change of one key. A key that begins with a zero byte is the database's own, and no reader of entries sees it. */
export type StoredMutation =
  | StoredSet
  | { readonly type: "delete"; readonly key: Uint8Array }
  | DeleteExpired
  /**
   * Puts `operand` and the stored `KvU64` together, modulo 2^64, or stores `operand` where there is none. Where another
   * value is stored, the write is answered with an error.
   */
  | { readonly type: "sum" | "min" | "max"; readonly key: Uint8Array; readonly operand: bigint };

/** Mutations that are applied in order, all of them or, where a check fails, none. */
export interface AtomicWrite {
  readonly checks: readonly StoredCheck[];
  readonly mutations: readonly StoredMutation[];
  /** Whether the write must have survived a power cut before it is acknowledged; a killed process it survives anyway. */
  readonly sync: boolean;
}

/**
 * The versionstamp of a write that was applied, null where a check failed, an error where a key that it depends on is
 * unreadable or has a value of the wrong type.
 */
export type WriteOutcome = string | null | Error;

/** How many of a thing an engine takes at once. */
export interface EngineLimits {
  /** Checks of one atomic write. */
  readonly checks: number;
  /** Mutations of one atomic write. */
  readonly mutations: number;
}

export interface RangeRead {
  readonly range: KeyRange;
  /** Entries at the most, at least 1. */
  readonly limit: number;
  /** From the end of the range backwards. */
  readonly reverse: boolean;
}

/**
 * The port below the Kv facade, in bytes only; its shape follows the `Database` trait of Deno's `denokv` (MIT).
 * A method that reads sees one state of the database, in which each atomic write is there as a whole or not at all.
 */
export interface Engine {
  readonly limits: EngineLimits;

  /** The entry of a key, undefined where there is none. */
  get(key: Uint8Array): MaybePromise<StoredEntry | undefined>;

  /** The entries of keys, in their order, from one snapshot. */
  getMany(keys: readonly Uint8Array[]): MaybePromise<(StoredEntry | undefined)[]>;

  /**
   * The first entries of a range, in order, from one snapshot: `limit` of them, or fewer where the range has no more or
   * where they have {@link maxRangeBytes} together. {@link isRangeEnd} tells which.
   */
  getRange(read: RangeRead): Promise<StoredEntry[]>;

  /**
   * Applies writes one after another, as one durable step, and answers each of them. It is not called again before it
   * has answered: the commit queue sees to that.
   */
  commit(writes: readonly AtomicWrite[]): Promise<WriteOutcome[]>;

  /** Calls `onChange` after each commit that wrote or removed one of the keys, until the returned function is called. */
  watch(keys: readonly Uint8Array[], onChange: () => void): () => void;

  /**
   * Calls `onChange` after each commit that wrote or removed keys within one of the ranges, with these keys, until the
   * returned function is called. Of the database's own keys a range has those that `getRange` shows. The keys are lent:
   * who keeps one makes a copy. One that was written several times may be among them several times.
   */
  watchRanges(
    ranges: readonly KeyRange[],
    onChange: (keys: readonly Uint8Array[]) => void,
  ): () => void;

  close(): Promise<void>;
}
