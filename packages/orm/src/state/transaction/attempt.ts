import {
  type AtomicCheck,
  isKeywrightError,
  type KeyOrder,
  type Kv,
  type KvCommitError,
  type KvCommitResult,
  type KvEntryMaybe,
  type KvKey,
  type KvLimits,
  type KvView,
  type Turn,
} from "@keywright/core";
import {
  TransactionConflictError,
  TransactionEndedError,
} from "../../errors/transaction-errors.js";
import { copyStored } from "../../model/rows/copy-of-data.js";
import { untilAborted } from "../../promises/abortable-waits.js";
import { capabilitiesOf, type KvReads } from "../catalog/capabilities-of.js";
import { entryAfterWrite, isU64Like } from "./buffer/buffered-write.js";
import { copyOfKey, type KeyId, keyIdOf } from "./buffer/key-id.js";
import { type PendingChange, WriteBuffer } from "./buffer/write-buffer.js";
import { JoinedReads } from "./reads/joined-reads.js";
import { ReadRanges } from "./reads/read-ranges.js";
import { type ReadPage, ReadSet } from "./reads/read-set.js";
import { type PendingCheck, pendingCheck } from "./transaction-atomic.js";

export interface TransactionKvOptions {
  /** The number of the attempt, from 1. The default is 1. */
  readonly attempt?: number;
  /**
   * Which checks of atomic operations are assumed to hold, without a read: those of keys with a
   * versionstamp (`"versions"`), or also those of absent keys (`"all"`). If one does not hold, the
   * commit of the transaction fails. Another attempt without assumptions can then find the reason.
   * The default is `"nothing"`.
   */
  readonly assumes?: "nothing" | "versions" | "all";
  /** The turn of the attempt, if it has one. Entries that came with it need not be read. */
  readonly turn?: Turn | undefined;
  /** Ends reads: those in flight, and all later ones. */
  readonly signal?: AbortSignal | undefined;
}

interface WantedKey {
  readonly id: KeyId;
  readonly key: KvKey;
}

/** The reads and writes of one attempt of a transaction, and whether it can still be committed. */
export class Attempt {
  readonly kv: Kv;
  readonly limits: KvLimits;
  readonly order: KeyOrder;
  readonly reads: ReadSet;
  readonly buffer: WriteBuffer = new WriteBuffer();
  /** Counts from 1. */
  readonly number: number;
  readonly assumes: NonNullable<TransactionKvOptions["assumes"]>;
  /** The state of the database that the transaction reads, after its first read. */
  #view: KvView | undefined;
  #source: KvReads | undefined;
  #isReleased = false;
  /** True if the transaction was told that ranges are checked, before it has opened a view. */
  #mustCheckRanges = false;
  /** The last of the commits that the state must contain, as far as they are known. */
  #covered: string | undefined;
  readonly #turn: Turn | undefined;
  readonly #known: KnownEntries = new KnownEntries();
  readonly #signal: AbortSignal | undefined;
  readonly #joined: JoinedReads<WantedKey> = new JoinedReads((keys) => this.#readBase(keys));
  isEnded = false;
  /** True if a key has changed since the transaction read it, so that no commit is possible. */
  hasConflict = false;

  constructor(kv: Kv, options: TransactionKvOptions) {
    this.kv = kv;
    const { limits, keyOrder } = capabilitiesOf(kv);
    this.limits = limits;
    this.order = keyOrder;
    this.reads = new ReadSet(keyOrder);
    this.number = options.attempt ?? 1;
    this.assumes = options.assumes ?? "nothing";
    this.#turn = options.turn;
    this.#signal = options.signal;
  }

  /** Ends the attempt. Calls that are still in flight have no further effect. */
  end(): void {
    this.isEnded = true;
  }

  /** Frees what the attempt holds, after its last read. */
  release(): void {
    this.#isReleased = true;
    this.#view?.close();
  }

  /**
   * Where the transaction reads the database. If commits can check ranges, it is one state, which
   * the database has at the first read.
   */
  get source(): KvReads {
    if (this.#source !== undefined) return this.#source;
    const capabilities = capabilitiesOf(this.kv);
    // The reads of a transaction within another one are reads of the outer one.
    const isInner = this.kv.openView === undefined;
    if (!isInner && capabilities.checksRanges) this.#view = this.#openView();
    if (this.#view === undefined && this.#mustCheckRanges) this.#fail();
    if (this.#view !== undefined) {
      this.reads.beginSnapshot();
      this.reads.ranges = new ReadRanges(this.#view, this.order);
    }
    this.#source = this.#view ?? this.kv;
    return this.#source;
  }

  #openView(): KvView | undefined {
    // A read that comes too late opens none, because nobody would close it.
    if (this.#isReleased) return undefined;
    try {
      return capabilitiesOf(this.kv).openView();
    } catch (error) {
      // The database holds as many states as it can.
      if (isViewEnded(error)) this.#fail();
      throw error;
    }
  }

  /**
   * True if the commit checks the ranges that the transaction lists, so that no key enters them.
   */
  get checksRanges(): boolean {
    if (this.#source === undefined && this.#turn?.takeEntry !== undefined) {
      // Opens no view, because all that the transaction reads may have come with its turn.
      this.#mustCheckRanges = capabilitiesOf(this.kv).checksRanges;
      return this.#mustCheckRanges;
    }
    const isInner = this.source === this.kv && this.kv.openView === undefined;
    return this.reads.ranges !== undefined || (isInner && capabilitiesOf(this.kv).checksRanges);
  }

  /**
   * Fails the attempt if it reads a state from before a commit, such as one that has changed the
   * catalog. Its next attempt reads a later state.
   */
  assertCovers(versionstamp: string | null): void {
    if (versionstamp === null) return;
    if (this.#covered === undefined || versionstamp > this.#covered) this.#covered = versionstamp;
    this.#assertCovered();
  }

  #assertCovered(): void {
    const state = this.reads.ranges?.versionstamp;
    if (this.#covered === undefined || state === undefined) return;
    if (this.#covered > state) this.#fail();
  }

  /** Must be called before each read that may come from another state than those before it. */
  beginRead(): void {
    if (this.reads.ranges === undefined) this.reads.beginSnapshot();
  }

  believe(check: AtomicCheck): void {
    const { id, key, versionstamp } = pendingCheck(check, this.order);
    // The versionstamp of a buffered write is made up, so the database could not check it.
    if (versionstamp !== null && this.buffer.get(id)?.versionstamp === versionstamp) return;
    if (!this.reads.assume(id, key, versionstamp)) this.#fail();
  }

  /**
   * Returns entries as the transaction sees them, and records those of the database as read. An
   * entry that it has read is not read again, because the commit checks that it has not changed.
   */
  async readEntries(keys: readonly KvKey[]): Promise<KvEntryMaybe<unknown>[]> {
    this.assertActive();
    const wanted = keys.map((key) => ({ id: keyIdOf(key, this.order), key: copyOfKey(key) }));
    const known: (KvEntryMaybe<unknown> | undefined)[] = [];
    const missing: WantedKey[] = [];
    for (const key of wanted) {
      const isWritten = this.buffer.get(key.id)?.stored !== undefined;
      const entry = isWritten ? undefined : this.#known.get(key.id);
      known.push(entry);
      if (entry === undefined && !isWritten) missing.push(key);
    }
    const read = missing.length === 0 ? [] : await this.#joined.read(missing);
    let next = 0;
    return wanted.map((key, i) => {
      const base = missing[next] === key ? read[next++] : known[i];
      // Looked up again, because the key may have been written during the read.
      const write = this.buffer.get(key.id);
      return write === undefined
        ? (base as KvEntryMaybe<unknown>)
        : entryAfterWrite(write, key.id, base);
    });
  }

  async #readBase(wanted: readonly WantedKey[]): Promise<KvEntryMaybe<unknown>[]> {
    if (this.#turn === undefined) return await this.#readSource(wanted);
    const entries: (KvEntryMaybe<unknown> | undefined)[] = [];
    for (const { id, key } of wanted) {
      const entry = await this.kv.takeEntry?.(this.#turn, key);
      entries.push(entry);
      if (entry === undefined) continue;
      this.assertActive();
      // It may be older than other reads, so it is verified if there is no commit to check it.
      if (!this.reads.assume(id, key, entry.versionstamp)) this.#fail();
      this.keep(id, entry);
    }
    const missing = wanted.filter((_, i) => entries[i] === undefined);
    const read = missing.length === 0 ? [] : await this.#readSource(missing);
    return entries.map((entry) => entry ?? read.shift()!);
  }

  async #readSource(wanted: readonly WantedKey[]): Promise<KvEntryMaybe<unknown>[]> {
    const entries: KvEntryMaybe<unknown>[] = [];
    const { keys: maxKeys } = this.limits;
    const { source } = this;
    for (let from = 0; from < wanted.length; from += maxKeys) {
      const chunk = wanted.slice(from, from + maxKeys);
      const [first] = chunk;
      this.beginRead();
      const read =
        chunk.length === 1 && first !== undefined
          ? [await this.read(source.get(first.key))]
          : await this.read(source.getMany<unknown[]>(chunk.map(({ key }) => key)));
      this.assertActive();
      for (const [i, { id, key }] of chunk.entries()) {
        const entry = read[i] as KvEntryMaybe<unknown>;
        this.record(id, key, entry.versionstamp);
        this.keep(id, entry);
        entries.push(entry);
      }
    }
    return entries;
  }

  async apply(
    checks: readonly PendingCheck[],
    changes: readonly PendingChange[],
  ): Promise<KvCommitResult | KvCommitError> {
    this.assertActive();
    let unknown = checks.filter((check) => this.#needsRead(check));
    while (unknown.length > 0) {
      await this.#joined.read(unknown);
      unknown = checks.filter((check) => this.#needsRead(check));
    }
    const failed = checks.filter((check) => this.#hasFailed(check));
    if (failed.length > 0) {
      // Either the check or an earlier read of this transaction is out of date. In the second case,
      // reading again throws a TransactionConflictError.
      const unwritten = failed.filter(({ id }) => this.buffer.get(id) === undefined);
      if (this.reads.ranges === undefined) await this.#joined.read(unwritten);
      else await this.#assertNewest(unwritten);
      return { ok: false };
    }
    for (const { id, key, versionstamp } of checks) {
      if (this.#seenVersionstamp(id) === undefined) this.reads.assume(id, key, versionstamp);
    }
    const versionstamp = nextPendingVersionstamp();
    this.buffer.apply(changes, versionstamp);
    return { ok: true, versionstamp };
  }

  /** Fails if checks hold now, and only fail in the state that the transaction reads. */
  async #assertNewest(checks: readonly PendingCheck[]): Promise<void> {
    for (const { key, versionstamp } of checks) {
      const newest = await this.read(this.kv.get(key));
      if (newest.versionstamp === versionstamp) this.#fail();
    }
  }

  #needsRead({ id, versionstamp }: PendingCheck): boolean {
    if (this.#seenVersionstamp(id) !== undefined) return false;
    return this.assumes === "nothing" || (versionstamp === null && this.assumes !== "all");
  }

  #hasFailed({ id, versionstamp }: PendingCheck): boolean {
    const seen = this.#seenVersionstamp(id);
    return seen !== undefined && seen !== versionstamp;
  }

  /** Returns null for an absent key, and undefined if the versionstamp is not known yet. */
  #seenVersionstamp(id: KeyId): string | null | undefined {
    const write = this.buffer.get(id);
    return write === undefined ? this.reads.versionstampOf(id) : write.versionstamp;
  }

  record(id: KeyId, key: KvKey, versionstamp: string | null): void {
    if (!this.reads.record(id, key, versionstamp)) this.#fail();
  }

  /** Records an entry of a range that the transaction lists, and its key if it is absent. */
  recordListed(id: KeyId, key: KvKey, entry: KvEntryMaybe<unknown> | undefined): void {
    const versionstamp = entry?.versionstamp ?? null;
    // The check of a range does not notice that an entry expires.
    const expires = entry?.versionstamp != null && entry.expireAt !== undefined;
    if (this.reads.ranges === undefined || expires) this.record(id, key, versionstamp);
    else if (!this.reads.recordCovered(id, versionstamp)) this.#fail();
  }

  /** Records a page of the state that the transaction reads. */
  recordPage(page: ReadPage): void {
    if (!this.reads.recordPage(page)) this.#fail();
  }

  /** Keeps an entry that is recorded as read. */
  keep(id: KeyId, entry: KvEntryMaybe<unknown>): void {
    this.#known.add(id, entry);
  }

  /** Uses an entry that was read before the transaction, as if it had been read now. */
  begin(entry: KvEntryMaybe<unknown>): void {
    const id = keyIdOf(entry.key, this.order);
    this.reads.beginSnapshot();
    this.record(id, copyOfKey(entry.key), entry.versionstamp);
    this.keep(id, entry);
  }

  #fail(): never {
    this.hasConflict = true;
    throw new TransactionConflictError(this.number);
  }

  assertActive(): void {
    if (this.isEnded) throw new TransactionEndedError();
    this.#signal?.throwIfAborted();
    if (this.hasConflict) throw new TransactionConflictError(this.number);
    this.#assertCovered();
  }

  /**
   * Waits for a read of the database.
   *
   * @throws {TransactionConflictError} if the state that the transaction reads is lost.
   * @throws the reason of the signal if it is aborted before the read ends.
   */
  read<T>(reading: Promise<T>): Promise<T> {
    const waiting = this.#signal === undefined ? reading : untilAborted(reading, this.#signal);
    return waiting.catch((error) => {
      if (isViewEnded(error) && !this.isEnded) this.#fail();
      throw error;
    });
  }
}

function isViewEnded(error: unknown): boolean {
  return isKeywrightError(error) && error.code === "KW_READ_VIEW_ENDED";
}

/** Sorts after all versionstamps of a database, whose first digits count its commits. */
const firstDigits = "ffffffff";
let count = 0;

function nextPendingVersionstamp(): string {
  count++;
  return firstDigits + count.toString(16).padStart(12, "0");
}

/** Limits the memory of a transaction that reads many entries. It reads the others again. */
const maxEntries = 5000;

/** Entries that a transaction has read. Their readers may change the values that they get. */
class KnownEntries {
  readonly #entries = new Map<KeyId, KvEntryMaybe<unknown>>();

  /** Returns a copy of an entry, or undefined if it is not known. */
  get(id: KeyId): KvEntryMaybe<unknown> | undefined {
    const entry = this.#entries.get(id);
    return entry && copyOf(entry);
  }

  add(id: KeyId, entry: KvEntryMaybe<unknown>): void {
    if (this.#entries.size < maxEntries) this.#entries.set(id, copyOf(entry));
  }
}

function copyOf(entry: KvEntryMaybe<unknown>): KvEntryMaybe<unknown> {
  // Each database has its own class of numbers, which a copy would lose. They do not change.
  const value = isU64Like(entry.value) ? entry.value : copyStored(entry.value);
  const key = copyOfKey(entry.key);
  if (entry.versionstamp === null) return { ...entry, key };
  // A spread leaves out `expireAt` of an entry of compat mode, where it is not enumerable.
  const { versionstamp, expireAt } = entry;
  return expireAt === undefined
    ? { key, value, versionstamp }
    : { key, value, versionstamp, expireAt };
}
