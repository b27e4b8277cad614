import type {
  AtomicCheck,
  AtomicOperation,
  KeyOrder,
  Kv,
  KvCommitError,
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
import { TransactionConflictError, TransactionEndedError } from "../errors/transaction-errors.js";
import { type AfterCommit, runAfterCommit } from "./after-commit.js";
import { entryOf } from "./buffered-write.js";
import { commitBuffer, type TransactionResult } from "./commit-buffer.js";
import { copyOfKey, type KeyId, keyIdOf } from "./key-id.js";
import { keyOrderOf } from "./key-order-of.js";
import { limitsOf } from "./limits-of.js";
import { MergedList } from "./merged-list.js";
import { nextOwnVersionstamp } from "./own-versionstamp.js";
import { ReadSet } from "./read-set.js";
import { type PendingCheck, pendingCheck, TransactionAtomic } from "./transaction-atomic.js";
import { type PendingChange, WriteBuffer } from "./write-buffer.js";

/** How one attempt of a transaction goes about it. */
export interface TransactionKvOptions {
  /** Which attempt it is, from 1; 1 without it. */
  readonly attempt?: number;
  /**
   * Believes an atomic operation that checks a key to be absent, without a read: where it isn't, the commit of the
   * transaction fails, and another attempt, without this, can tell why. False without it.
   */
  readonly optimistic?: boolean;
}

/** A key of a read, with its id. */
interface WantedKey {
  readonly id: KeyId;
  readonly key: KvKey;
}

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
  readonly #kv: Kv;
  readonly #order: KeyOrder;
  readonly #attempt: number;
  readonly #isOptimistic: boolean;
  readonly #reads = new ReadSet();
  readonly #buffer = new WriteBuffer();
  readonly #afterCommit: AfterCommit[] = [];
  #state: "active" | "conflicting" | "ended" = "active";
  #hasConflict = false;

  constructor(kv: Kv & { readonly limits?: KvLimits }, options: TransactionKvOptions = {}) {
    this.limits = limitsOf(kv);
    this.#kv = kv;
    this.#order = keyOrderOf(kv);
    this.#attempt = options.attempt ?? 1;
    this.#isOptimistic = options.optimistic ?? false;
  }

  /**
   * Reads one key.
   *
   * @throws {TransactionConflictError} where it has changed since the transaction read it: this attempt is over.
   * @throws {TransactionEndedError} after the end of the transaction, as all methods do.
   */
  async get<T = unknown>(key: KvKey): Promise<KvEntryMaybe<T>> {
    const [entry] = await this.#readEntries([key]);
    return entry as KvEntryMaybe<T>;
  }

  /** Reads several keys; not necessarily from one snapshot, but what doesn't fit together is not committed. */
  async getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
  ): Promise<{ [K in keyof T]: KvEntryMaybe<T[K]> }> {
    const entries = await this.#readEntries(keys as readonly KvKey[]);
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
    this.#assertActive();
    const context = {
      kv: this.#kv,
      order: this.#order,
      buffer: this.#buffer,
      assertActive: () => this.#assertActive(),
      beginSnapshot: () => this.#reads.beginSnapshot(),
      record: (id: KeyId, key: KvKey, versionstamp: string | null) =>
        this.#record(id, key, versionstamp),
    };
    return new MergedList<T>(context, selector, options);
  }

  /** Begins an atomic operation, whose `commit()` applies it within the transaction. */
  atomic(): AtomicOperation {
    this.#assertActive();
    return new TransactionAtomic({
      kv: this.#kv,
      order: this.#order,
      commit: (checks, changes) => this.#apply(checks, changes),
    });
  }

  /**
   * Adds a condition to the commit, as a read of the key with this versionstamp does.
   *
   * @throws {TransactionConflictError} where the transaction has read another versionstamp.
   */
  addCheck(check: AtomicCheck): void {
    this.#assertActive();
    const { id, key, versionstamp } = pendingCheck(check, this.#order);
    // Of an own write there is nothing that the database could know.
    if (versionstamp !== null && this.#buffer.get(id)?.versionstamp === versionstamp) return;
    if (!this.#reads.believe(id, key, versionstamp)) this.#failAttempt();
  }

  /** Has a function run after the commit, behind those that were added before. Without a commit it is forgotten. */
  afterCommit(run: AfterCommit): void {
    this.#assertActive();
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
    if (this.#state === "ended") throw new TransactionEndedError();
    this.end();
    if (this.#hasConflict) return { ok: false };
    const { limits } = this;
    const result = await commitBuffer({ kv: this.#kv, limits }, this.#reads, this.#buffer);
    if (result.ok) await runAfterCommit(this.#afterCommit, result.versionstamp);
    return result;
  }

  /** Ends the transaction without a commit: every call after it is refused, and those before it write nothing any more. */
  end(): void {
    this.#state = "ended";
  }

  /**
   * Whether all that it has read held at one time. True also where that cannot be told because of the database's limits.
   */
  async hasConsistentReads(): Promise<boolean> {
    if (this.#hasConflict) return false;
    if (!this.#reads.needsVerification) return true;
    return (await this.#reads.hold(this.#kv, this.limits.keys)) ?? true;
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

  async #readEntries(keys: readonly KvKey[]): Promise<KvEntryMaybe<unknown>[]> {
    this.#assertActive();
    const wanted = keys.map((key) => ({ id: keyIdOf(key, this.#order), key: copyOfKey(key) }));
    const missing = wanted.filter(({ id }) => this.#buffer.get(id)?.stored === undefined);
    const read = new Map<WantedKey, KvEntryMaybe<unknown>>();
    const entries = await this.#readBase(missing);
    for (const [i, key] of missing.entries()) read.set(key, entries[i] as KvEntryMaybe<unknown>);
    return wanted.map((key) => {
      // As it is now: it may have been written while the others were read.
      const write = this.#buffer.get(key.id);
      const base = read.get(key);
      return write === undefined ? (base as KvEntryMaybe<unknown>) : entryOf(write, key.id, base);
    });
  }

  /** Reads keys of the database, as many at once as it takes, and records them. */
  async #readBase(wanted: readonly WantedKey[]): Promise<KvEntryMaybe<unknown>[]> {
    const entries: KvEntryMaybe<unknown>[] = [];
    const { keys: atOnce } = this.limits;
    for (let from = 0; from < wanted.length; from += atOnce) {
      const chunk = wanted.slice(from, from + atOnce);
      const keys = chunk.map(({ key }) => key);
      this.#reads.beginSnapshot();
      const read =
        keys.length === 1 && keys[0] !== undefined
          ? [await this.#kv.get(keys[0])]
          : await this.#kv.getMany<unknown[]>(keys);
      this.#assertActive();
      for (const [i, { id, key }] of chunk.entries()) {
        const entry = read[i] as KvEntryMaybe<unknown>;
        this.#record(id, key, entry.versionstamp);
        entries.push(entry);
      }
    }
    return entries;
  }

  /** Applies an atomic operation to the transaction where its checks hold within it. */
  async #apply(
    checks: readonly PendingCheck[],
    changes: readonly PendingChange[],
  ): Promise<KvCommitResult | KvCommitError> {
    this.#assertActive();
    let unknown = checks.filter((check) => this.#needsRead(check));
    while (unknown.length > 0) {
      await this.#readBase(unknown);
      unknown = checks.filter((check) => this.#needsRead(check));
    }
    const failed = checks.filter((check) => this.#hasFailed(check));
    if (failed.length > 0) {
      // Either who checks is behind the times or this transaction is: where it is, its attempt ends here.
      await this.#readBase(failed.filter(({ id }) => this.#buffer.get(id) === undefined));
      return { ok: false };
    }
    for (const { id, key } of checks) {
      if (this.#seenVersionstamp(id) === undefined) this.#reads.believe(id, key, null);
    }
    const versionstamp = nextOwnVersionstamp();
    this.#buffer.apply(changes, versionstamp);
    return { ok: true, versionstamp };
  }

  #needsRead({ id, versionstamp }: PendingCheck): boolean {
    if (this.#seenVersionstamp(id) !== undefined) return false;
    return versionstamp !== null || !this.#isOptimistic;
  }

  #hasFailed({ id, versionstamp }: PendingCheck): boolean {
    return (this.#seenVersionstamp(id) ?? null) !== versionstamp;
  }

  /** The versionstamp of a key within the transaction, undefined where that is not known yet. */
  #seenVersionstamp(id: KeyId): string | null | undefined {
    const write = this.#buffer.get(id);
    return write === undefined ? this.#reads.versionstampOf(id) : write.versionstamp;
  }

  #record(id: KeyId, key: KvKey, versionstamp: string | null): void {
    if (!this.#reads.record(id, key, versionstamp)) this.#failAttempt();
  }

  #failAttempt(): never {
    this.#hasConflict = true;
    this.#state = "conflicting";
    throw new TransactionConflictError(this.#attempt);
  }

  #assertActive(): void {
    if (this.#state === "ended") throw new TransactionEndedError();
    if (this.#state === "conflicting") throw new TransactionConflictError(this.#attempt);
  }
}
