import type {
  AtomicCheck,
  KeyOrder,
  Kv,
  KvCommitError,
  KvCommitResult,
  KvEntryMaybe,
  KvKey,
  KvLimits,
} from "@keywright/core";
import { TransactionConflictError, TransactionEndedError } from "../errors/transaction-errors.js";
import { entryOf } from "./buffered-write.js";
import { copyOfKey, type KeyId, keyIdOf } from "./key-id.js";
import { keyOrderOf } from "./key-order-of.js";
import { limitsOf } from "./limits-of.js";
import { nextOwnVersionstamp } from "./own-versionstamp.js";
import { ReadSet } from "./read-set.js";
import { type PendingCheck, pendingCheck } from "./transaction-atomic.js";
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

/** What an attempt of a transaction has read and written, and whether it can still be committed. */
export class Attempt {
  readonly kv: Kv;
  readonly limits: KvLimits;
  readonly order: KeyOrder;
  readonly reads: ReadSet = new ReadSet();
  readonly buffer: WriteBuffer = new WriteBuffer();
  readonly #attempt: number;
  readonly isOptimistic: boolean;
  #isEnded = false;
  #hasConflict = false;

  constructor(kv: Kv & { readonly limits?: KvLimits }, options: TransactionKvOptions) {
    this.kv = kv;
    this.limits = limitsOf(kv);
    this.order = keyOrderOf(kv);
    this.#attempt = options.attempt ?? 1;
    this.isOptimistic = options.optimistic ?? false;
  }

  /** Whether a key was seen to have changed: the attempt cannot be committed. */
  get hasConflict(): boolean {
    return this.#hasConflict;
  }

  /** Whether the attempt is over, committed or not. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Ends the attempt: calls that are still in flight do nothing any more. */
  end(): void {
    this.#isEnded = true;
  }

  /** Records a condition that was not read. Throws as {@link record}. */
  believe(check: AtomicCheck): void {
    const { id, key, versionstamp } = pendingCheck(check, this.order);
    // Of an own write there is nothing that the database could know.
    if (versionstamp !== null && this.buffer.get(id)?.versionstamp === versionstamp) return;
    if (!this.reads.believe(id, key, versionstamp)) this.#fail();
  }

  /**
   * The entries of keys as the transaction sees them: what it has written, or else what the database has, which is recorded.
   */
  async readEntries(keys: readonly KvKey[]): Promise<KvEntryMaybe<unknown>[]> {
    this.assertActive();
    const wanted = keys.map((key) => ({ id: keyIdOf(key, this.order), key: copyOfKey(key) }));
    const missing = wanted.filter(({ id }) => this.buffer.get(id)?.stored === undefined);
    const read = new Map<WantedKey, KvEntryMaybe<unknown>>();
    const entries = await this.#readBase(missing);
    for (const [i, key] of missing.entries()) read.set(key, entries[i] as KvEntryMaybe<unknown>);
    return wanted.map((key) => {
      // As it is now: it may have been written while the others were read.
      const write = this.buffer.get(key.id);
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
      this.reads.beginSnapshot();
      const read =
        keys.length === 1 && keys[0] !== undefined
          ? [await this.kv.get(keys[0])]
          : await this.kv.getMany<unknown[]>(keys);
      this.assertActive();
      for (const [i, { id, key }] of chunk.entries()) {
        const entry = read[i] as KvEntryMaybe<unknown>;
        this.record(id, key, entry.versionstamp);
        entries.push(entry);
      }
    }
    return entries;
  }

  /** Applies an atomic operation to the transaction where its checks hold within it. */
  async apply(
    checks: readonly PendingCheck[],
    changes: readonly PendingChange[],
  ): Promise<KvCommitResult | KvCommitError> {
    this.assertActive();
    let unknown = checks.filter((check) => this.#needsRead(check));
    while (unknown.length > 0) {
      await this.#readBase(unknown);
      unknown = checks.filter((check) => this.#needsRead(check));
    }
    const failed = checks.filter((check) => this.#hasFailed(check));
    if (failed.length > 0) {
      // Either who checks is behind the times or this transaction is: where it is, its attempt ends here.
      await this.#readBase(failed.filter(({ id }) => this.buffer.get(id) === undefined));
      return { ok: false };
    }
    for (const { id, key } of checks) {
      if (this.#seenVersionstamp(id) === undefined) this.reads.believe(id, key, null);
    }
    const versionstamp = nextOwnVersionstamp();
    this.buffer.apply(changes, versionstamp);
    return { ok: true, versionstamp };
  }

  #needsRead({ id, versionstamp }: PendingCheck): boolean {
    if (this.#seenVersionstamp(id) !== undefined) return false;
    return versionstamp !== null || !this.isOptimistic;
  }

  #hasFailed({ id, versionstamp }: PendingCheck): boolean {
    return (this.#seenVersionstamp(id) ?? null) !== versionstamp;
  }

  /** The versionstamp of a key within the transaction, undefined where that is not known yet. */
  #seenVersionstamp(id: KeyId): string | null | undefined {
    const write = this.buffer.get(id);
    return write === undefined ? this.reads.versionstampOf(id) : write.versionstamp;
  }

  /** Records what the database has under a key. Throws where that is not what was read before. */
  record(id: KeyId, key: KvKey, versionstamp: string | null): void {
    if (!this.reads.record(id, key, versionstamp)) this.#fail();
  }

  #fail(): never {
    this.#hasConflict = true;
    throw new TransactionConflictError(this.#attempt);
  }

  /** @throws {TransactionEndedError} after its end, {TransactionConflictError} where it cannot be committed any more. */
  assertActive(): void {
    if (this.#isEnded) throw new TransactionEndedError();
    if (this.#hasConflict) throw new TransactionConflictError(this.#attempt);
  }
}
