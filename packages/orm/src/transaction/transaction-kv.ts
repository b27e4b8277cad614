import type {
  AtomicCheck,
  AtomicOperation,
  Kv,
  KvCommitResult,
  KvEnqueueOptions,
  KvEntryMaybe,
  KvKey,
  KvLimits,
  KvListIterator,
  KvListOptions,
  KvListSelector,
  KvSetKey,
  KvSetOptions,
} from "@keywright/core";
import { TransactionEndedError } from "../errors/transaction-errors.js";
import { type AfterCommit, runAfterCommit } from "./after-commit.js";
import { Attempt, type TransactionKvOptions } from "./attempt.js";
import { commitBuffer, type TransactionResult } from "./commit-buffer.js";
import { MergedList } from "./merged-list.js";
import { TransactionAtomic } from "./transaction-atomic.js";

/**
 * One attempt of a transaction, with the interface of a database: its reads see what it has written itself, its writes
 * wait for its `commit()`, which writes all of them at once on condition that nothing it has read has changed.
 *
 * That makes transactions serializable as far as single keys go, present and absent ones: it is as if each had run alone at
 * the time of its commit. Of a range, the entries that were returned are such keys; a key that comes into the range
 * meanwhile is not noticed (a phantom), unless those who write there also write a key that the transaction
 * reads or checks with {@link addCheck}.
 *
 * A key that only `sum`, `min` and `max` were applied to is not read, so that such transactions are in nobody's
 * way. Entries that the transaction itself has written have made-up versionstamps, above all others; the real one is that
 * of the commit. Neither messages of the queue nor keys that end in the versionstamp of the commit are seen before it.
 */
export class TransactionKv implements Kv {
  /** How much the database takes at once. */
  readonly limits: KvLimits;
  readonly #attempt: Attempt;
  readonly #afterCommit: AfterCommit[] = [];

  constructor(kv: Kv & { readonly limits?: KvLimits }, options: TransactionKvOptions = {}) {
    this.#attempt = new Attempt(kv, options);
    this.limits = this.#attempt.limits;
  }

  /**
   * Reads one key.
   *
   * @throws {TransactionConflictError} where it has changed since the transaction read it: this attempt is over.
   * @throws {TransactionEndedError} after the end of the transaction, as all methods do.
   */
  async get<T = unknown>(key: KvKey): Promise<KvEntryMaybe<T>> {
    const [entry] = await this.#attempt.readEntries([key]);
    return entry as KvEntryMaybe<T>;
  }

  /** Reads several keys; not necessarily from one snapshot, but what doesn't fit together is not committed. */
  async getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
  ): Promise<{ [K in keyof T]: KvEntryMaybe<T[K]> }> {
    const entries = await this.#attempt.readEntries(keys as readonly KvKey[]);
    return entries as { [K in keyof T]: KvEntryMaybe<T[K]> };
  }

  async set(key: KvSetKey, value: unknown, options?: KvSetOptions): Promise<KvCommitResult> {
    // Without checks it cannot be refused.
    return (await this.atomic().set(key, value, options).commit()) as KvCommitResult;
  }

  async delete(key: KvKey): Promise<void> {
    await this.atomic().delete(key).commit();
  }

  async enqueue(value: unknown, options?: KvEnqueueOptions): Promise<KvCommitResult> {
    return (await this.atomic().enqueue(value, options).commit()) as KvCommitResult;
  }

  list<T = unknown>(selector: KvListSelector, options: KvListOptions = {}): KvListIterator<T> {
    this.#attempt.assertActive();
    return new MergedList<T>(this.#attempt, selector, options);
  }

  /** Begins an atomic operation, whose `commit()` applies it within the transaction. */
  atomic(): AtomicOperation {
    this.#attempt.assertActive();
    return new TransactionAtomic(this.#attempt);
  }

  /**
   * Adds a condition to the commit, as a read of the key with this versionstamp does.
   *
   * @throws {TransactionConflictError} where the transaction has read another versionstamp.
   */
  addCheck(check: AtomicCheck): void {
    this.#attempt.assertActive();
    this.#attempt.believe(check);
  }

  /** Has a function run after the commit, behind those that were added before. Without a commit it is forgotten. */
  afterCommit(run: AfterCommit): void {
    this.#attempt.assertActive();
    this.#afterCommit.push(run);
  }

  /**
   * Ends the transaction and writes what it has to write, all in one commit, on condition that nothing that it has read has
   * changed; `{ ok: false }` where something has. Then runs what `afterCommit` was given, one after another; where some of
   * it throws the rest is run still, and the first error thrown.
   *
   * @throws {LimitExceededError} for more checks or mutations than the database takes at once. Nothing is written.
   * @throws what `commit()` of an atomic operation of the database throws.
   */
  async commit(): Promise<TransactionResult> {
    const attempt = this.#attempt;
    if (attempt.isEnded) throw new TransactionEndedError();
    attempt.end();
    if (attempt.hasConflict) return { ok: false };
    const result = await commitBuffer(attempt, attempt.reads, attempt.buffer);
    if (result.ok) await runAfterCommit(this.#afterCommit, result.versionstamp);
    return result;
  }

  /** Ends the transaction without a commit: every call after it is refused, and those before it write nothing any more. */
  end(): void {
    this.#attempt.end();
  }

  /**
   * Whether all that it has read held at one time. Where that cannot be told because of the database's limits, true only
   * where nothing was believed instead of read.
   */
  async hasConsistentReads(): Promise<boolean> {
    const { hasConflict, reads, kv, limits, isOptimistic } = this.#attempt;
    if (hasConflict) return false;
    if (!reads.needsVerification) return true;
    return (await reads.hold(kv, limits.keys)) ?? !isOptimistic;
  }

  /** @throws {TypeError} always: there is nothing to watch within a transaction. */
  watch(): never {
    throw new TypeError("A transaction cannot watch keys: watch them on the database.");
  }

  /** Rejects with a TypeError always: messages are delivered by the database. */
  async listenQueue(): Promise<never> {
    throw new TypeError("A transaction cannot listen to the queue: listen on the database.");
  }

  /** @throws {TypeError} always: a transaction ends with the function that it was given to. */
  close(): never {
    throw new TypeError("A transaction cannot be closed: it ends with its function.");
  }

  /** @throws {TypeError} as {@link close}. */
  [Symbol.dispose](): void {
    this.close();
  }
}
