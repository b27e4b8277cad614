import type {
  AmbiguousCommitError,
  DatabaseClosedError,
  EngineUnavailableError,
  InvalidVersionstampError,
  ReadViewEndedError,
} from "../errors/core-errors.js";
import type { KeyRange } from "../keys/key-range.js";
import type { FileReport } from "./files/file-report.js";
import type { Progress } from "./progress.js";

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

/**
 * An entry that is passed to a visitor. It and its bytes are valid only during the call: the engine
 * may use the same object and the same memory for the next entry. What is kept must be copied.
 */
export interface VisitedEntry extends StoredEntry {
  /** The memory that the key and the value are parts of. An engine saves their views with it. */
  readonly memory?: EntryMemory;
  /**
   * Writes the 10 bytes of the versionstamp. An engine that stores bytes saves the text with it.
   */
  writeVersionstamp?(target: Uint8Array, offset: number): void;
}

/**
 * Where an entry is: its key is `keyBytes[keyStart, keyEnd)`, its value is a part of its record.
 */
export interface EntryMemory {
  readonly keyBytes: Uint8Array;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly record: Uint8Array;
  readonly valueStart: number;
  readonly valueEnd: number;
}

export type EntryVisitor = (entry: VisitedEntry) => void;

/** @param position that of the range of the entry among the ranges. */
export type RangesVisitor = (position: number, entry: VisitedEntry) => void;

/** @param position that of the key of the entry in the list of keys. */
export type KeyVisitor = (position: number, entry: VisitedEntry) => void;

/** Keys in one array of bytes, so that many keys need no object each. */
export interface KeyList {
  readonly bytes: Uint8Array;
  /** The offset in `bytes` of the first byte of each key. */
  readonly starts: readonly number[];
  /** The offset in `bytes` after the last byte of each key. */
  readonly ends: readonly number[];
}

/** A condition of an atomic write: the key has this versionstamp, or no entry if it is null. */
export interface StoredCheck {
  readonly key: Uint8Array;
  readonly versionstamp: string | null;
}

/**
 * A condition of an atomic write: no commit after the one with this versionstamp has written or
 * deleted a key of the range. An entry that expires is not deleted before it is removed, so a write
 * that depends on such an entry also checks its key.
 */
export interface RangeCheck {
  readonly range: KeyRange;
  readonly versionstamp: string;
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
   * The hint that led to the entry. It is deleted too, except if the entry has not expired yet and
   * will expire by `dueAt` (milliseconds since the epoch).
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
  /** Conditions on ranges. They are only passed to an engine with `checksRanges`. */
  readonly rangeChecks?: readonly RangeCheck[];
  readonly mutations: readonly StoredMutation[];
  /**
   * True if the write must be on disk before it is acknowledged, so that it survives a power cut.
   * Every acknowledged write survives a killed process.
   */
  readonly sync: boolean;
  /** What the program says about the write, as an encoded value. Only the log keeps it. */
  readonly context?: Uint8Array;
  /** If present, the engine also logs what the write changes, in the same atomic write. */
  readonly log?: LogMark;
  /**
   * A header of the database that replaces the present one, in the same atomic write. Only engines
   * that store a header of their own use it.
   */
  readonly header?: Uint8Array;
  /**
   * The number of the turn to which the write belongs. 0 for a write without a turn, which is
   * postponed if it conflicts with a call that has one. If it is undefined, the write is not
   * postponed. Only engines with `turns` use it.
   */
  readonly turn?: number;
}

/** Asks an engine with `keepsLog` for a record of the log. */
export interface LogMark {
  /** The time of the commit, in milliseconds since the epoch. */
  readonly time: number;
  /** Called if the write is applied, with the bytes of the record's key and value. */
  readonly onLogged: (bytes: number) => void;
}

/**
 * The versionstamp of an applied write, null if a check failed, or an error if a key that the write
 * depends on is unreadable or has a value of the wrong type.
 */
export type WriteOutcome = string | null | Error;

/**
 * The limits of an engine. `kv.limits` of its databases is never higher. A limit that is absent is
 * that of the database.
 */
export interface EngineLimits {
  /** Bytes of one key, without the 32 bytes that the database may add to it for its own keys. */
  readonly keyBytes?: number;
  /** Bytes of one value. */
  readonly valueBytes?: number;
  /** Keys of one `getMany`. */
  readonly keys?: number;
  /** Checks of one atomic write. */
  readonly checks?: number;
  /** Mutations of one atomic write. The `set` of an entry that expires becomes two of them. */
  readonly mutations?: number;
  /** Bytes of the keys and values of one atomic write. */
  readonly totalMutationBytes?: number;
}

export interface RangeRead {
  readonly range: KeyRange;
  /** The maximum number of entries, at least 1. */
  readonly limit: number;
  /** True to read from the end of the range backwards. */
  readonly reverse: boolean;
}

/** A read of the first entries of each of several ranges. */
export interface RangesRead {
  /** Ranges without common keys, in the order of their keys. */
  readonly ranges: readonly KeyRange[];
  /** The maximum number of entries of each range, at least 1. */
  readonly limit: number;
  /** The maximum number of entries of all ranges together, at least 1. */
  readonly most: number;
}

/**
 * Reads of one state of a database. Its reads return what they would have returned at the moment
 * when the view was opened, whatever is committed or expires later. They throw, or reject, with a
 * {@link ReadViewEndedError} after `close()` and after the engine has given the state up, and with
 * a {@link DatabaseClosedError} after the engine was closed.
 */
export interface ReadView {
  /** True if the engine refuses all commits. The default is false. */
  readonly isReadOnly?: boolean;

  /**
   * The versionstamp of the last commit that the state contains, or of an earlier one. A range
   * check with it notices every commit that the state lacks. It is not earlier than that of a
   * commit that was acknowledged before the view was opened. Undefined before the first read with
   * `atFirstRead`, and always if the engine has no `checksRanges`.
   */
  readonly versionstamp?: string | undefined;

  /** Returns the entry of a key, or undefined if there is none. */
  get(key: Uint8Array): MaybePromise<StoredEntry | undefined>;

  /** Returns the entries of keys, in the order of `keys`. */
  getMany(keys: readonly Uint8Array[]): MaybePromise<(StoredEntry | undefined)[]>;

  /** Returns the first entries of a range, as `getRange` of an engine does. */
  getRange(read: RangeRead): MaybePromise<StoredEntry[]>;

  /** Calls `visit` with the first entries of a range, as `visitRange` of an engine does. */
  visitRange?(read: RangeRead, visit: EntryVisitor): MaybePromise<void>;

  /** Calls `visit` with the entries of keys, as `visitMany` of an engine does. */
  visitMany?(keys: KeyList, visit: KeyVisitor): MaybePromise<void>;

  /** Calls `visit` with the first entries of ranges, as `visitRanges` of an engine does. */
  visitRanges?(read: RangesRead, visit: RangesVisitor): MaybePromise<void>;

  /** Frees what the view holds. Does nothing if the view has ended. */
  close(): void;
}

/** How a view is opened. */
export interface OpenViewOptions {
  /**
   * True if the state of the view may be that of its first read. An engine that has to ask a server
   * can then return the view without waiting. The default is false.
   */
  readonly atFirstRead?: boolean | undefined;
}

/** Called after changes with their keys, or with undefined if their keys are not known. */
export type RangeListener = (keys: readonly Uint8Array[] | undefined) => void;

/** The process to which this one is attached. */
export interface DatabaseOwner {
  /** The id of the process. */
  readonly pid: number;
}

/** The keys that a call reads and writes: the bytes of each, one character for each byte. */
export interface Footprint {
  readonly reads: ReadonlySet<string>;
  readonly writes: ReadonlySet<string>;
}

/** The turn of a call, which has begun. */
export interface Turn {
  /** The number by which the owner of the database knows the turn, if that is another process. */
  readonly number?: number;
  /**
   * Returns the entry of a key as it was when the turn began, if it came with the answer of the
   * owner. Returns it once, so that an attempt after a failed one reads the database.
   */
  takeEntry?(key: string): StoredEntry | null | undefined;
  /** Ends the turn, so that the next ones begin. */
  end(): void;
}

/**
 * The line of the calls that have lost several attempts. Calls of the same keys make their further
 * attempts one after another, in the order in which they came. Others that would change these keys
 * join the line.
 */
export interface Turns {
  /** How many attempts a call loses before it takes its turn. The default is 3. */
  readonly attempts?: number;
  /** True if a call of this process, or one that this process knows of, is in the line. */
  readonly isUsed: boolean;
  /** True if such a call reads what the footprint writes, or the reverse. */
  conflictsWith(footprint: Footprint): boolean;
  /**
   * Joins the line, and resolves when the turn begins.
   *
   * @throws the reason of the signal if it is aborted.
   */
  take(footprint: Footprint, signal?: AbortSignal): Promise<Turn>;
}

export interface QueueListener {
  /** Resolves when the listener has ended. Rejects if the queue fails. */
  readonly done: Promise<void>;
  /** Ends deliveries to the handler. It may finish the messages that it has. */
  end(): void;
}

/**
 * The port to a storage engine. `openKv(engine)` opens a database on it. It handles only bytes. Its
 * shape follows the `Database` trait of Deno's `denokv` (MIT). `engineContract` of
 * `@keywright/core/testing` tests an implementation.
 *
 * Each read sees one state of the database, which contains all of an atomic write or none of it,
 * and all writes that were acknowledged before the read. An entry that has expired is absent for
 * reads and checks, by the one clock that the engine chooses.
 *
 * Calls may run concurrently, except `commit`. A call that fails for a while, because a server does
 * not answer, is retried by the engine. It then rejects with an {@link EngineUnavailableError}.
 */
export interface Engine {
  readonly limits: EngineLimits;

  /**
   * True if several processes can have the database open at the same time. The default is false.
   * Watches must then report the commits of all of them.
   */
  readonly isShared?: boolean;

  /** True if the engine refuses all commits. The default is false. */
  readonly isReadOnly?: boolean;

  /**
   * True if `commit` takes range checks, and views have a versionstamp. The default is false. A
   * check with a versionstamp that is too old for the engine to know what has changed since then
   * fails. If the versionstamp is later than that of the last commit, the outcome of the write is a
   * {@link InvalidVersionstampError}.
   */
  readonly checksRanges?: boolean;

  /** True if `commit` logs the writes that ask for it. The default is false. */
  readonly keepsLog?: boolean;

  /**
   * True if `commit` keeps the thread until the writes are on disk. The default is false. Large
   * commits that are made in successive turns of the event loop then share a call of `commit`.
   */
  readonly commitsAtOnce?: boolean;

  /**
   * The versionstamp of the last commit, if `get` and `getMany` read at once and the newest state
   * is the one after this commit. Two such reads see the same state if it was the same before both.
   * Undefined while a commit is being written, and always if reads have to wait.
   */
  readonly lastVersionstamp?: string | undefined;

  /** Returns the entry of a key, or undefined if there is none. */
  get(key: Uint8Array): MaybePromise<StoredEntry | undefined>;

  /** Returns the entries of keys from one snapshot, in the order of `keys`. */
  getMany(keys: readonly Uint8Array[]): MaybePromise<(StoredEntry | undefined)[]>;

  /**
   * Returns the first entries of a range from one snapshot, in order. There are `limit` of them, or
   * fewer if the range ends or if their values reach {@link maxRangeBytes} in total. To find out
   * which, call {@link isRangeEnd}. A range that begins before the key `00 03` begins at `01`: the
   * database's own keys are in a range only if it begins among them.
   */
  getRange(read: RangeRead): Promise<StoredEntry[]>;

  /**
   * Returns the first entries of several ranges, all from one snapshot. Unlike `getRange`, it
   * returns fewer than `limit` only if the range ends, so the caller bounds the bytes with `limit`.
   * Without this method, a server reads the ranges of one request one after another.
   */
  getRanges?(reads: readonly RangeRead[]): Promise<StoredEntry[][]>;

  /**
   * Calls `visit` with the first `limit` entries of a range, in order, all from one snapshot.
   * Unlike `getRange`, it visits fewer than `limit` only if the range ends, so the caller bounds
   * the bytes with `limit`. An engine may have it to save the objects that `getRange` returns.
   */
  visitRange?(read: RangeRead, visit: EntryVisitor): MaybePromise<void>;

  /**
   * True if `visitRange`, `visitMany` and `visitRanges` are done when they return, and never return
   * a promise. The default is false.
   */
  readonly visitsAtOnce?: boolean;

  /**
   * True if `visitMany` takes less time than `get` also for one key, because `get` copies the
   * value. It needs `visitsAtOnce`. The default is false.
   */
  readonly getsCopies?: boolean;

  /**
   * Calls `visit` with the entries of keys from one snapshot, in the order of `keys`, and with
   * their positions in it. Keys without an entry are left out. An engine may have it to save the
   * objects that `getMany` takes and returns.
   */
  visitMany?(keys: KeyList, visit: KeyVisitor): MaybePromise<void>;

  /**
   * Calls `visit` with the first entries of each of several ranges, in the order of their keys, all
   * from one snapshot. An engine may have it if it finds the beginning of a range faster than a
   * call of `visitRange` does. Without it, the entries between the ranges are read too if they are
   * few.
   */
  visitRanges?(read: RangesRead, visit: RangesVisitor): MaybePromise<void>;

  /**
   * Opens a view: reads of the state that the database has during this call. It contains all writes
   * that were acknowledged before the call. Many views can be open at the same time, and none of
   * them delays commits. Every view costs something while it is open, so it must be closed.
   *
   * An engine that reads synchronously opens views synchronously, and its views read synchronously.
   * An engine may give up a view that is open for long or that is not used. It has no such method
   * if its storage has no snapshots.
   */
  openView?(options?: OpenViewOptions): MaybePromise<ReadView>;

  /**
   * Applies writes in their order, and returns an outcome for each. Each write is atomic, and later
   * writes see it. The versionstamps of applied writes increase in the order in which they are
   * applied, over all processes and for the life of the database. An acknowledged write is durable.
   * The commit queue ensures that `commit` is not called again before it has returned the outcomes.
   *
   * If it is unknown whether a write was applied, its outcome is an {@link AmbiguousCommitError}.
   * An engine over a network first has to ask: it stores an id with each commit, so that a repeated
   * request returns the first outcome. If a write was certainly not applied, its outcome is another
   * error, such as an {@link EngineUnavailableError}. If `commit` itself rejects, the engine has
   * failed: the database then refuses all further commits until it is opened again.
   */
  commit(writes: readonly AtomicWrite[]): Promise<WriteOutcome[]>;

  /**
   * Calls `onChange` after commits that wrote or deleted one of the keys. The call may come later
   * than the commit, and one call may stand for several commits. It may come without a change. A
   * read that begins after the call sees the change. The returned function ends the watch.
   *
   * Every commit that begins after this call is reported, and so is every commit that a later read
   * of this engine does not see.
   */
  watch(keys: readonly Uint8Array[], onChange: () => void): () => void;

  /**
   * Calls `onChange` after commits that wrote or deleted keys in one of the ranges, under the
   * conditions of `watch`. It passes the affected keys, or undefined if the engine cannot tell
   * which keys have changed, for example after it was disconnected for long. The returned function
   * ends the watch.
   *
   * The database's own keys are in a range only if `getRange` would return them. A key that was
   * written several times may occur several times. The keys are valid only during the call, so
   * `onChange` must copy the ones that it keeps.
   */
  watchRanges(ranges: readonly KeyRange[], onChange: RangeListener): () => void;

  /**
   * Verifies all files of the database, if the engine has files and can verify them. After it has
   * found damage, all other calls fail.
   */
  verifyFiles?(onProgress: (progress: Progress<"checking">) => void): Promise<FileReport>;

  /**
   * Delivers messages of the queue to a handler, as encoded values. Exists only if another process
   * owns the database: it then also delivers messages and removes expired entries. Without this
   * method, each process does so itself.
   *
   * @param deliver a rejection means that the delivery has failed.
   * @param sync true if the commit that ends a delivery must survive a power cut.
   */
  listen?(deliver: (value: Uint8Array) => Promise<void>, sync: boolean): QueueListener;

  /** The process that owns the database, if it is another one. */
  readonly owner?: DatabaseOwner | undefined;

  /** The line for turns, if another process has it. Without it, each process has its own. */
  readonly turns?: Turns | undefined;

  /** Releases all resources. The watches end, and calls that have not finished may reject. */
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
