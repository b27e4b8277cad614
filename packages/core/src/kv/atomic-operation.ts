import type { Turn } from "../engine/engine.js";
import type { KvKey, KvKeyPart } from "../keys/key.js";
import type { KvListSelector } from "../keys/key-range.js";

/**
 * A key to store a value under. Its last part may be the placeholder that `commitVersionstamp()`
 * returns. The versionstamp of the commit replaces it, as a string.
 */
export type KvSetKey = KvKey | readonly [...parts: KvKeyPart[], versionstamp: symbol];

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

/** One mutation of an atomic operation, as data. */
export type KvMutation =
  | { key: KvSetKey; type: "set"; value: unknown; expireIn?: number | undefined }
  | { key: KvKey; type: "delete" }
  | { key: KvKey; type: "sum" | "min" | "max"; value: { readonly value: bigint } };

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
