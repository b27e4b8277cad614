import { realpathSync } from "node:fs";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import {
  type AtomicWrite,
  type CorruptionError,
  DatabaseClosedError,
  type Engine,
  type EngineLimits,
  EngineUnavailableError,
  type FileReport,
  type KeyRange,
  LimitExceededError,
  type Progress,
  type RangeListener,
  type RangeRead,
  ReadOnlyError,
  type ReadView,
  type StoredEntry,
  type WriteOutcome,
} from "@keywright/core";
import {
  assertInPlace,
  EntryChecker,
  ExpiryClock,
  type FileId,
  fileIdOf,
  OpenViews,
  recordOf,
  WriteGroup,
} from "@keywright/core/engine";
import { checkedFile } from "./check/checked-file.js";
import { GroupWriter } from "./commit/write-group.js";
import type { FileConnection } from "./file/file-connection.js";
import { versionstampOf } from "./file/head.js";
import { connectToRead, type OpenFile, turnOfOthers, whenFree } from "./open/open-file.js";
import { HeldStates } from "./views/held-states.js";
import { CommitFeed } from "./watch/commit-feed.js";

/** SQLite has rows of at most 1,000,000,000 bytes: a key, a record, and a few bytes of its own. */
const mostRowBytes = 999_999_900;
/** Milliseconds of commits after which other work of the process gets its turn. */
const longestRow = 10;

/** Milliseconds for which another process counts as one that commits, after it has. */
const othersCount = 1000;

export interface FileEngineOptions {
  readonly isReadOnly: boolean;
  /** True to check the entries, those of a small file before the engine is open. */
  readonly checksEntries: boolean;
  /** The maximum bytes of a key and its record, smaller in tests. */
  readonly mostRowBytes?: number;
  /** Called when the file is closed. */
  readonly onClosed: () => Promise<void>;
}

/** The engine on an open SQLite file, which other processes may use too. */
export class FileEngine implements Engine {
  readonly isShared = true;
  readonly checksRanges = true;
  readonly keepsLog = true;
  readonly commitsAtOnce = true;
  readonly limits: EngineLimits = { valueBytes: 512 * 1024 * 1024 };
  readonly isReadOnly: boolean;
  readonly #file: OpenFile;
  readonly #id: FileId | undefined;
  /** The path of the log, and which file it is. SQLite follows the links of the path too. */
  readonly #log: string;
  readonly #logId: FileId | undefined;
  readonly #connection: FileConnection;
  readonly #writer: GroupWriter;
  readonly #feed: CommitFeed;
  readonly #checker: EntryChecker;
  readonly #states: HeldStates;
  readonly #views = new OpenViews();
  readonly #clock = new ExpiryClock();
  readonly #onClosed: () => Promise<void>;
  readonly #mostRowBytes: number;
  #isSyncing: boolean | undefined;
  /** When other work had its turn, by `performance.now()`. */
  #lastTurn = 0;
  /** When this process has committed, and when it has seen a commit of another one. */
  #lastCommit = Number.NEGATIVE_INFINITY;
  #lastOfOthers = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  /** Set when an entry was found damaged or missing. All calls fail from then on. */
  #damage: CorruptionError | undefined;

  private constructor(file: OpenFile, connection: FileConnection, options: FileEngineOptions) {
    this.#file = file;
    this.#id = fileIdOf(file.path);
    this.#connection = connection;
    this.isReadOnly = options.isReadOnly;
    this.#onClosed = options.onClosed;
    this.#mostRowBytes = options.mostRowBytes ?? mostRowBytes;
    this.#writer = new GroupWriter(connection);
    this.#feed = connection.reading(() => new CommitFeed(connection));
    this.#log = `${realpathSync(file.path)}-wal`;
    this.#logId = fileIdOf(this.#log);
    this.#states = new HeldStates(() => connectToRead(file));
    this.#checker = new EntryChecker(checkedFile(this.#states, file.path), (error) => {
      this.#damage ??= error;
    });
  }

  /**
   * Takes the connection over.
   *
   * @throws {CorruptionError} if the last commit or an entry of a small file is damaged.
   */
  static async open(
    file: OpenFile,
    connection: FileConnection,
    options: FileEngineOptions,
  ): Promise<FileEngine> {
    const engine = new FileEngine(file, connection, options);
    if (!options.checksEntries) return engine;
    try {
      await engine.#checker.start();
      return engine;
    } catch (error) {
      await engine.#checker.close();
      engine.#states.close();
      throw error;
    }
  }

  get lastVersionstamp(): string | undefined {
    if (this.#isClosed || this.#damage !== undefined) return undefined;
    return this.#newest();
  }

  get(key: Uint8Array): StoredEntry | undefined {
    this.#assertUsable();
    return this.#connection.get(key, this.#clock.now());
  }

  getMany(keys: readonly Uint8Array[]): (StoredEntry | undefined)[] {
    this.#assertUsable();
    return this.#connection.getMany(keys, this.#clock.now());
  }

  async getRange(read: RangeRead): Promise<StoredEntry[]> {
    this.#assertUsable();
    return this.#connection.getRange(read, this.#clock.now());
  }

  async getRanges(reads: readonly RangeRead[]): Promise<StoredEntry[][]> {
    this.#assertUsable();
    const now = this.#clock.now();
    const connection = this.#connection;
    return connection.inOneState(() =>
      reads.map((read) => connection.getRange(read, now, Number.POSITIVE_INFINITY)),
    );
  }

  openView(): ReadView {
    this.#views.assertOpen();
    this.#assertUsable();
    const held = this.#states.hold(this.#newest());
    const { connection } = held;
    const now = this.#clock.now();
    const reads = {
      get: (key: Uint8Array) => connection.get(key, now),
      getMany: (keys: readonly Uint8Array[]) => connection.getMany(keys, now),
      getRange: (read: RangeRead) => connection.getRange(read, now),
    };
    return this.#views.open(reads, () => this.#states.release(held), held.versionstamp);
  }

  async commit(writes: readonly AtomicWrite[]): Promise<WriteOutcome[]> {
    const { path } = this.#file;
    const refusal = this.isReadOnly ? new ReadOnlyError("commit", path) : this.#damage;
    if (refusal !== undefined) return writes.map(() => refusal);
    await this.#letOthersWork();
    await this.#letOthersCommit();
    assertInPlace(path, this.#id);
    // SQLite would write to a log that was deleted, and other processes would begin another one.
    assertInPlace(this.#log, this.#logId);
    try {
      this.#syncIf(writes.some(({ sync }) => sync));
      await whenFree(this.#file, () => this.#connection.beginImmediate());
    } catch (error) {
      // Nothing was begun, so the next commits may succeed.
      if (error instanceof EngineUnavailableError) return writes.map(() => error);
      throw error;
    }
    try {
      if (this.#feed.catchUp()) this.#lastOfOthers = performance.now();
      return this.#commitAt(this.#clock.stop(), writes);
    } catch (error) {
      throw this.#file.failures.ofCommit(error);
    } finally {
      this.#connection.rollback();
      this.#clock.resume();
      this.#lastCommit = performance.now();
    }
  }

  /** The lock of the file has no line. Whoever asks again at once would get it nearly always. */
  async #letOthersCommit(): Promise<void> {
    const now = performance.now();
    const left = this.#lastCommit + turnOfOthers - now;
    if (left > 0 && now - this.#lastOfOthers < othersCount) await sleep(left);
  }

  /** A commit keeps the thread of the program, so a row of them would leave no time to others. */
  async #letOthersWork(): Promise<void> {
    if (performance.now() - this.#lastTurn < longestRow) return;
    await nextTurn();
    this.#lastTurn = performance.now();
  }

  watch(keys: readonly Uint8Array[], onChange: () => void): () => void {
    return this.#feed.watch(keys, onChange);
  }

  watchRanges(ranges: readonly KeyRange[], onChange: RangeListener): () => void {
    return this.#feed.watchRanges(ranges, onChange);
  }

  async verifyFiles(onProgress: (progress: Progress<"checking">) => void): Promise<FileReport> {
    return await this.#checker.verify(onProgress);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#views.close();
    this.#feed.close();
    await this.#checker.close();
    this.#states.close();
    // The last connection that is closed copies the log into the file.
    this.#connection.close();
    await this.#onClosed();
  }

  /** Applies and commits the writes in the transaction that has begun, without a pause. */
  #commitAt(now: number, writes: readonly AtomicWrite[]): WriteOutcome[] {
    const { head, latest, versions } = this.#feed;
    latest.begin();
    const group = new WriteGroup({
      sequence: head.sequence + 1,
      now,
      read: (key) => this.#connection.reading(() => this.#connection.entry(key), key),
      recordOf: (entry) => this.#recordOf(entry),
      versions,
      recent: latest,
      copiesWrites: true,
    });
    const outcomes = writes.map((write) => group.apply(write));
    if (group.last === undefined) return outcomes;
    const { mutations } = group;
    const order = Number.parseInt(group.last.slice(16), 16);
    const next = this.#writer.write(head, order, mutations, latest.changedBy(mutations));
    this.#connection.commit();
    this.#feed.noteOwn(next, mutations);
    return outcomes;
  }

  /**
   * @throws {LimitExceededError} if SQLite cannot store the record. That of a commit in the log has
   * all values that were set and replaced, so it can be larger than each of them.
   */
  #recordOf(entry: StoredEntry): Uint8Array {
    const record = recordOf(entry);
    const most = this.#mostRowBytes - entry.key.length;
    if (record.length > most) throw new LimitExceededError("valueBytes", most, record.length);
    return record;
  }

  /** Says if the following commits have to be on disk before they are acknowledged. */
  #syncIf(isSyncing: boolean): void {
    if (this.#isSyncing === isSyncing) return;
    this.#connection.run(`PRAGMA synchronous = ${isSyncing ? "FULL" : "NORMAL"}`);
    this.#isSyncing = isSyncing;
  }

  #newest(): string {
    this.#connection.reading(() => this.#feed.catchUp());
    return versionstampOf(this.#feed.head);
  }

  #assertUsable(): void {
    if (this.#damage !== undefined) throw this.#damage;
    if (this.#isClosed) throw new DatabaseClosedError();
  }
}
