import type {
  AtomicCheck,
  AtomicOperation,
  Footprint,
  Kv,
  KvCommitResult,
  KvEnqueueOptions,
  KvEntryMaybe,
  KvKey,
  KvLimits,
  KvListIterator,
  KvListOptions,
  KvListSelector,
  KvPages,
  KvSetKey,
  KvSetOptions,
} from "@keywright/core";
import {
  TransactionEndedError,
  TransactionNotAwaitedError,
} from "../../errors/transaction-errors.js";
import { capabilitiesOf, shareCapabilities } from "../catalog/capabilities-of.js";
import { type AfterCommit, runAfterCommit } from "./after-commit.js";
import { Attempt, type TransactionKvOptions } from "./attempt.js";
import {
  assertFits,
  type BeginCommit,
  commitBuffer,
  type TransactionResult,
  type WithinTurn,
} from "./commit-buffer.js";
import { MergedList } from "./reads/merged-list.js";
import { TransactionPages } from "./reads/transaction-pages.js";
import { TransactionAtomic } from "./transaction-atomic.js";

/**
 * One attempt of a transaction, with the interface of a database. Its reads see its own writes.
 * `commit()` writes everything in one commit, if nothing that the transaction has read has changed.
 *
 * If the database can check ranges, transactions are strictly serializable: all reads come from one
 * state, and the commit checks that no key has changed that was read, and no key of a range as far
 * as it was listed. A transaction that writes nothing checks nothing, because it has read one
 * state.
 *
 * On other databases this applies to single keys, present or absent, and in a range to the entries
 * that were returned. A key that another commit adds to the range (a phantom) is not noticed,
 * unless that commit also writes a key that the transaction reads, or checks with {@link addCheck}.
 *
 * Keys to which only `sum`, `min` and `max` are applied are not read, so such transactions do not
 * conflict. Entries that the transaction itself has written have made-up versionstamps, larger than
 * all others. The real one is that of the commit. Messages of the queue, and keys that end in the
 * versionstamp of the commit, cannot be seen before the commit.
 */
export class TransactionKv implements Kv {
  readonly limits: KvLimits;
  /** The transaction within which this one runs, and through which it reads. */
  readonly #outer: TransactionKv | undefined;
  readonly #attempt: Attempt;
  readonly #afterCommit: AfterCommit[] = [];
  #pages: TransactionPages | undefined;
  readonly #pendingWrites = new Set<Promise<unknown>>();

  constructor(kv: Kv, options: TransactionKvOptions = {}) {
    this.#outer = kv instanceof TransactionKv ? kv : undefined;
    this.#attempt = new Attempt(kv, options);
    this.limits = this.#attempt.limits;
    shareCapabilities(this, kv);
  }

  get<T = unknown>(key: KvKey): Promise<KvEntryMaybe<T>> {
    return this.#attempt.readEntries([key]).then(([entry]) => entry as KvEntryMaybe<T>);
  }

  /**
   * May read several snapshots if the database cannot check ranges. Inconsistent reads are not
   * committed.
   */
  async getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
  ): Promise<{ [K in keyof T]: KvEntryMaybe<T[K]> }> {
    const entries = await this.#attempt.readEntries(keys as readonly KvKey[]);
    return entries as { [K in keyof T]: KvEntryMaybe<T[K]> };
  }

  async set(key: KvSetKey, value: unknown, options?: KvSetOptions): Promise<KvCommitResult> {
    // Without checks, the result is never a `KvCommitError`.
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

  /** Undefined if the transaction does not read one state of a database of this process. */
  get pages(): KvPages | undefined {
    const attempt = this.#attempt;
    attempt.assertActive();
    const { isLocal, listsAtOnce } = capabilitiesOf(attempt.kv);
    // On a server, the entries are kept, because it takes a message to read them again.
    if (!isLocal && !listsAtOnce) return undefined;
    const { pages } = attempt.source;
    if (pages === undefined || attempt.reads.ranges === undefined) return undefined;
    this.#pages ??= new TransactionPages(attempt, pages, this);
    return this.#pages;
  }

  atomic(): AtomicOperation {
    this.#attempt.assertActive();
    return new TransactionAtomic(this.#attempt);
  }

  /** The number of the attempt, from 1. */
  get attempt(): number {
    return this.#attempt.number;
  }

  /** True if the commit checks the ranges that were listed. See the description of the class. */
  get seesNoPhantoms(): boolean {
    return this.#attempt.checksRanges;
  }

  /** Adds a check to the commit, as a read of the key with this versionstamp does. */
  addCheck(check: AtomicCheck): void {
    this.#attempt.assertActive();
    this.#attempt.believe(check);
  }

  /** Uses an entry that was read shortly before, as if the transaction had read it. */
  beginWith(entry: KvEntryMaybe<unknown>): void {
    this.#attempt.assertActive();
    this.#attempt.begin(entry);
  }

  /**
   * True if a check that does not hold may make the commit fail, because another attempt would find
   * the reason.
   */
  get mayAssume(): boolean {
    return this.#attempt.assumes !== "nothing";
  }

  /** Runs a function after the commit, and after those that were added before. */
  afterCommit(run: AfterCommit): void {
    this.#attempt.assertActive();
    this.#afterCommit.push(run);
  }

  /** Runs a write that has to end before the function of the transaction returns. */
  trackWrite<T>(write: () => Promise<T>): Promise<T> {
    const call = write();
    this.#pendingWrites.add(call);
    const end = () => void this.#pendingWrites.delete(call);
    void call.then(end, end);
    return call;
  }

  /**
   * @throws {LimitExceededError} if what the transaction has read and written by now is too large
   * for one commit.
   */
  assertFits(): void {
    assertFits(this.#attempt, this.#attempt.reads, this.#attempt.buffer);
  }

  /** True if a write is running. */
  get isWriting(): boolean {
    return this.#pendingWrites.size > 0;
  }

  /**
   * Waits until no write is running.
   *
   * @throws {TransactionNotAwaitedError} always.
   */
  async refuseRunningWrites(): Promise<void> {
    while (this.#pendingWrites.size > 0) await Promise.allSettled(this.#pendingWrites);
    throw new TransactionNotAwaitedError();
  }

  /**
   * Ends the transaction and writes everything in one commit, if nothing that the transaction has
   * read has changed. Otherwise returns `{ ok: false }`. After the commit, the functions of
   * `afterCommit` run one after another. If one of them throws, the others still run, and then the
   * first error is thrown.
   *
   * @param within the turn to which the commit belongs. It ends before these functions run, which
   * may write what others in the line use. Without a turn in it, the commit may be postponed.
   * @param begin returns the operation of the commit, if it is not one of the database.
   */
  async commit(within?: WithinTurn, begin?: BeginCommit): Promise<TransactionResult> {
    const attempt = this.#attempt;
    if (attempt.isEnded) throw new TransactionEndedError();
    attempt.end();
    if (attempt.hasConflict) return { ok: false };
    // A commit reads nothing more. On a server, others may wait for the connection.
    if (attempt.buffer.mutationCount > 0) attempt.release();
    const result = await commitBuffer(attempt, attempt.reads, attempt.buffer, within, begin);
    if (!result.ok) return result;
    within?.turn?.end();
    await runAfterCommit(this.#afterCommit, result.versionstamp);
    return result;
  }

  /** Ends the transaction without a commit. Later calls fail, calls in flight write nothing. */
  end(): void {
    this.#attempt.end();
  }

  /** Frees what the transaction holds. Must be called after its end. */
  release(): void {
    this.#attempt.release();
  }

  /**
   * Fails the attempt if it reads a state from before the commit of this versionstamp.
   *
   * @throws {TransactionConflictError} if it does.
   */
  assertCovers(versionstamp: string | null): void {
    this.#outer?.assertCovers(versionstamp);
    this.#attempt.assertCovers(versionstamp);
  }

  /**
   * Returns whether all reads held at one time. If the limits of the database prevent a
   * verification, returns false for an attempt with assumptions and true for others.
   */
  async hasConsistentReads(): Promise<boolean> {
    const { hasConflict, reads, source, limits, assumes } = this.#attempt;
    if (hasConflict) return false;
    if (!reads.needsVerification) return true;
    return (await reads.verify(source, limits.keys)) ?? assumes === "nothing";
  }

  /** The keys that have been read and written by now. */
  get footprint(): Footprint {
    const { reads, buffer } = this.#attempt;
    return { reads: reads.ids, writes: buffer.written };
  }

  /** Returns the key of the first read that no longer holds, or the first parts of its keys. */
  async firstChanged(): Promise<KvKey | undefined> {
    const { kv, reads, limits } = this.#attempt;
    return await reads.firstChanged(kv, limits.keys);
  }

  watch(): never {
    throw new TypeError("A transaction cannot watch keys: watch them on the database.");
  }

  /** Always rejects with a TypeError. The database delivers messages. */
  async listenQueue(): Promise<never> {
    throw new TypeError("A transaction cannot listen to the queue: listen on the database.");
  }

  close(): never {
    throw new TypeError("A transaction cannot be closed: it ends with its function.");
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
