import type { Buffer } from "node:buffer";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { AbstractLevel, AbstractSnapshot } from "abstract-level";
import { textOfBytes } from "../../bytes/text-of-bytes.js";
import { DatabaseFormatError } from "../../errors/core-errors.js";
import type { KeyRange } from "../../keys/key-range.js";
import { sequenceOfVersionstamp } from "../../values/versionstamp.js";
import { ChangeWatchers } from "../change-watchers.js";
import { RecentCommits } from "../commit/recent-commits.js";
import {
  CheckedVersions,
  dependsOnStored,
  mutationsPerTurn,
  type RecordMutation,
  WriteGroup,
} from "../commit/write-group.js";
import type {
  AtomicWrite,
  Engine,
  EngineLimits,
  EntryVisitor,
  KeyList,
  KeyVisitor,
  MaybePromise,
  RangeListener,
  RangeRead,
  ReadView,
  StoredEntry,
  StoredMutation,
  WriteOutcome,
} from "../engine.js";
import { ExpiryClock } from "../expiry-clock.js";
import { OpenViews } from "../read/open-views.js";
import { decodeCommitRecord, encodeCommitRecord, verifyCommitRecords } from "./commit-record.js";
import {
  type DatabaseMode,
  encodeDatabaseHeader,
  verifyDatabaseHeader,
} from "./database-header.js";
import type { FileChecker } from "./files/file-checker.js";
import { bytes, type Level, LevelReads, type LevelSource } from "./level-reads.js";
import { LogSync } from "./log-sync.js";
import { readFailure } from "./read-failure.js";
import { keptRecordOf, recordOf } from "./record.js";
import { commitRecordRange, headerKey, lastKey } from "./reserved-keys.js";

/** Any abstract-level database, opened with any encodings. */
export type LevelDatabase = AbstractLevel<string | Buffer | Uint8Array, unknown, unknown>;

const nothing = new Uint8Array(0);
const synced: typeof bytes & { sync: boolean } = { ...bytes, sync: true };

/** A state that several views read. */
interface HeldState {
  /** Taken when the next commit is written. Until then the state is the newest one. */
  snapshot: AbstractSnapshot | undefined;
  readonly versionstamp: string;
  users: number;
}

export interface LevelEngineOptions {
  /** True if the database copies the bytes of a write and keeps no reference to them. */
  readonly copiesWrites?: boolean;
  /** True if an iterator that has reached its limit has reported damage. */
  readonly checksAtLimit?: boolean;
  /** The folder of a LevelDB database on a system that can sync folders. */
  readonly folder?: string | undefined;
  /** The default is `"specification"`. */
  readonly mode?: DatabaseMode;
  /** True to write nothing while opening, and to refuse an empty database. */
  readonly readOnly?: boolean;
  /** Checks the files of the database while it is open. */
  readonly files?: FileChecker | undefined;
}

/**
 * The engine on an abstract-level database: LevelDB on disk, or a database of the caller. Nothing
 * else may write to the database. `docs/internals/commit-protocol.md` describes the record formats
 * and the commit protocol.
 */
export class LevelEngine implements Engine {
  readonly limits: EngineLimits = {};
  readonly checksRanges = true;
  readonly keepsLog = true;
  readonly verifyFiles?: NonNullable<Engine["verifyFiles"]>;
  readonly getRanges?: NonNullable<Engine["getRanges"]>;
  readonly openView?: NonNullable<Engine["openView"]>;
  readonly #files: FileChecker | undefined;
  readonly #level: Level;
  readonly #source: LevelSource;
  readonly #reads: LevelReads;
  readonly #views = new OpenViews();
  readonly #copiesWrites: boolean;
  readonly #logSync: LogSync | undefined;
  readonly #watchers = new ChangeWatchers();
  readonly #checkedVersions = new CheckedVersions();
  readonly #recent: RecentCommits;
  #lastVersionstamp: string;
  /** The state that views hold, if it is that of the last commit. */
  #lastHeld: HeldState | undefined;
  #hasFailed = false;

  private constructor(level: Level, lastVersionstamp: string, options: LevelEngineOptions) {
    this.#level = level;
    const isBytesByDefault =
      level.keyEncoding().name === "view" && level.valueEncoding().name === "view";
    this.#source = {
      level,
      clock: new ExpiryClock(),
      hasGetSync: (level.supports as { getSync?: boolean }).getSync === true,
      checksAtLimit: options.checksAtLimit ?? false,
      encodings: isBytesByDefault ? undefined : bytes,
      isWriting: false,
      damage: undefined,
    };
    this.#reads = new LevelReads(this.#source);
    this.#copiesWrites = options.copiesWrites ?? false;
    this.#logSync = options.folder === undefined ? undefined : new LogSync(options.folder);
    this.#lastVersionstamp = lastVersionstamp;
    this.#recent = new RecentCommits(lastVersionstamp);
    if (level.supports.explicitSnapshots) {
      this.getRanges = (reads) => this.#getRanges(reads);
      this.openView = () => this.#openView();
    }
    const { files } = options;
    this.#files = files;
    if (files === undefined) return;
    this.verifyFiles = (onProgress) => files.verify(onProgress);
    files.start((error) => {
      this.#source.damage ??= error;
    });
  }

  /**
   * Opens an engine on an open database. Writes the header if the database is empty.
   *
   * @throws {DatabaseFormatError} if the database holds data that is not Keywright's, has another
   * format, or is empty and `readOnly` is true.
   * @throws {DatabaseModeError} if the database was created in the other mode.
   * @throws {CorruptionError} if the header or a commit record is damaged, or if commits are
   * missing.
   */
  static async open(
    database: LevelDatabase,
    options: LevelEngineOptions = {},
  ): Promise<LevelEngine> {
    const level = database as unknown as Level;
    try {
      const header = await level.get(headerKey, bytes);
      const mode = options.mode ?? "specification";
      if (header === undefined) {
        await initialise(level, mode, options.readOnly ?? false);
      } else {
        verifyDatabaseHeader(header, mode);
      }
      const lastVersionstamp = await readLastVersionstamp(level);
      // An existing database must be found intact before anything is written to it.
      if (!options.readOnly) await ensureLastKey(level);
      return new LevelEngine(level, lastVersionstamp, options);
    } catch (error) {
      throw readFailure(error);
    }
  }

  get lastVersionstamp(): string | undefined {
    const { hasGetSync, isWriting } = this.#source;
    return hasGetSync && !isWriting ? this.#lastVersionstamp : undefined;
  }

  get(key: Uint8Array): MaybePromise<StoredEntry | undefined> {
    return this.#reads.get(key);
  }

  getMany(keys: readonly Uint8Array[]): MaybePromise<(StoredEntry | undefined)[]> {
    return this.#reads.getMany(keys);
  }

  getRange(read: RangeRead): Promise<StoredEntry[]> {
    return this.#reads.getRange(read);
  }

  visitRange(read: RangeRead, visit: EntryVisitor): Promise<void> {
    return this.#reads.visitRange(read, visit);
  }

  visitMany(keys: KeyList, visit: KeyVisitor): MaybePromise<void> {
    return this.#reads.visitMany(keys, visit);
  }

  async #getRanges(reads: readonly RangeRead[]): Promise<StoredEntry[][]> {
    const snapshot = this.#level.snapshot();
    const state = new LevelReads(this.#source, {
      held: { snapshot },
      now: this.#source.clock.now(),
    });
    try {
      const ranges: StoredEntry[][] = [];
      for (const read of reads) ranges.push(await state.getRange(read, Number.POSITIVE_INFINITY));
      return ranges;
    } finally {
      await snapshot.close();
    }
  }

  #openView(): ReadView {
    if (this.#source.damage !== undefined) throw this.#source.damage;
    try {
      const held = this.#hold();
      const reads = new LevelReads(this.#source, { held, now: this.#source.clock.now() });
      return this.#views.open(reads, () => this.#release(held), held.versionstamp);
    } catch (error) {
      throw readFailure(error);
    }
  }

  /** Returns the state of the last view if nothing was committed since, and otherwise a new one. */
  #hold(): HeldState {
    const { hasGetSync, isWriting } = this.#source;
    let held = this.#lastHeld;
    if (isWriting || held?.versionstamp !== this.#lastVersionstamp) {
      held = { snapshot: undefined, versionstamp: this.#lastVersionstamp, users: 0 };
      // Others may already see the group that is being written, so this view must not be older. If
      // it contains the group, the keys of the group count as changed since the view, which is
      // safe.
      if (isWriting || !hasGetSync) held.snapshot = this.#level.snapshot();
      if (!isWriting) this.#lastHeld = held;
    }
    held.users++;
    return held;
  }

  #release(held: HeldState): void {
    if (--held.users > 0) return;
    if (this.#lastHeld === held) this.#lastHeld = undefined;
    // A snapshot that cannot be closed now is closed with the database.
    held.snapshot?.close().catch(() => undefined);
  }

  async commit(writes: readonly AtomicWrite[]): Promise<WriteOutcome[]> {
    const { clock, damage } = this.#source;
    if (damage !== undefined) return writes.map(() => damage);
    try {
      return await this.#commitAt(clock.stop(), writes);
    } finally {
      clock.resume();
    }
  }

  async #commitAt(now: number, writes: readonly AtomicWrite[]): Promise<WriteOutcome[]> {
    const group = new WriteGroup({
      sequence: sequenceOfVersionstamp(this.#lastVersionstamp) + 1,
      now,
      read: this.#source.hasGetSync
        ? (key) => this.#reads.getSync(key)
        : await this.#readAhead(writes),
      versions: this.#checkedVersions,
      recent: this.#recent,
      recordOf: this.#copiesWrites ? recordOf : keptRecordOf,
      copiesWrites: this.#copiesWrites,
    });
    const outcomes: WriteOutcome[] = [];
    for (const write of writes) {
      // No other commit runs at the same time, so the state on which the steps depend stays.
      const steps = group.applyInSteps(write);
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) await nextTurn();
      outcomes.push(step.value);
    }
    if (group.last === undefined) return outcomes;
    const commitRecord = encodeCommitRecord({
      last: group.last,
      previous: this.#lastVersionstamp,
      mutations: group.mutations.length,
    });
    const sync = writes.some((write) => write.sync);
    const header = headerOf(writes, outcomes);
    await this.#write(group.mutations, commitRecord, { sync, last: group.last, header });
    this.#watchers.notify(group.mutations);
    return outcomes;
  }

  watch(keys: readonly Uint8Array[], onChange: () => void): () => void {
    return this.#watchers.watch(keys, onChange);
  }

  watchRanges(ranges: readonly KeyRange[], onChange: RangeListener): () => void {
    return this.#watchers.watchRanges(ranges, onChange);
  }

  async close(): Promise<void> {
    this.#views.close();
    this.#logSync?.close();
    const close = () => this.#level.close();
    await (this.#files?.close(close, this.#hasFailed) ?? close());
  }

  async #readAhead(
    writes: readonly AtomicWrite[],
  ): Promise<(key: Uint8Array) => StoredEntry | undefined> {
    const keys = writes.flatMap(keysReadBy);
    const results = await Promise.allSettled(keys.map((key) => this.#reads.getAsync(key)));
    const reads = new Map(keys.map((key, index) => [textOfBytes(key), results[index]!]));
    return (key) => {
      // Only a key that ends in the versionstamp of the commit is not known before. It is new.
      const result = reads.get(textOfBytes(key));
      if (result === undefined) return undefined;
      if (result.status === "rejected") throw result.reason;
      return result.value;
    };
  }

  async #write(
    mutations: readonly RecordMutation[],
    commitRecord: { readonly key: Uint8Array; readonly value: Uint8Array },
    {
      sync,
      last,
      header,
    }: {
      readonly sync: boolean;
      readonly last: string;
      readonly header: Uint8Array | undefined;
    },
  ): Promise<void> {
    const batch = this.#level.batch();
    const held = this.#lastHeld;
    if (held !== undefined) held.snapshot ??= this.#level.snapshot();
    this.#source.isWriting = true;
    // The types do not know that the options may be undefined.
    const options = this.#source.encodings as typeof bytes;
    try {
      for (const [i, { key, record }] of mutations.entries()) {
        if (i % mutationsPerTurn === mutationsPerTurn - 1) await nextTurn();
        if (record === undefined) batch.del(key, options);
        else batch.put(key, record, options);
      }
      batch.put(commitRecord.key, commitRecord.value, options);
      if (header !== undefined) batch.put(headerKey, header, options);
      this.#logSync?.beforeBatch(sync);
      await batch.write(sync ? synced : bytes);
      const syncing = sync ? this.#logSync?.afterBatch() : undefined;
      if (syncing !== undefined) await syncing;
      // At the same time as `isWriting`, so that the state and its versionstamp always fit.
      this.#lastVersionstamp = last;
    } catch (error) {
      this.#hasFailed = true;
      // A write closes its batch. It may not have begun.
      await batch.close();
      throw error;
    } finally {
      this.#source.isWriting = false;
    }
  }
}

/** Returns the header that the last applied write with one has. */
function headerOf(
  writes: readonly AtomicWrite[],
  outcomes: readonly WriteOutcome[],
): Uint8Array | undefined {
  let last: Uint8Array | undefined;
  for (const [i, { header }] of writes.entries()) {
    if (header !== undefined && typeof outcomes[i] === "string") last = header;
  }
  return last;
}

function keysReadBy({ checks, mutations, log }: AtomicWrite): Uint8Array[] {
  // The log keeps what each key had before.
  const isRead = (each: StoredMutation) => log !== undefined || dependsOnStored(each);
  return [...checks, ...mutations.filter(isRead)].map(({ key }) => key);
}

async function initialise(level: Level, mode: DatabaseMode, readOnly: boolean): Promise<void> {
  const iterator = level.keys({ keyEncoding: "view", limit: 1 });
  try {
    if ((await iterator.next()) !== undefined) {
      throw new DatabaseFormatError("it holds data and has no Keywright header");
    }
  } finally {
    await iterator.close();
  }
  if (readOnly) throw new DatabaseFormatError("it is empty and was opened for reading only");
  await level.put(headerKey, encodeDatabaseHeader(mode), synced);
}

/**
 * Stores the last key if it is absent. An iterator that seeks the end stops at it. Without it,
 * LevelDB would walk over all entries that were deleted there, in the caller's thread.
 */
async function ensureLastKey(level: Level): Promise<void> {
  if ((await level.get(lastKey, bytes)) === undefined) await level.put(lastKey, nothing, bytes);
}

async function readLastVersionstamp(level: Level): Promise<string> {
  const records = [];
  for await (const [key, value] of level.iterator({ ...bytes, ...commitRecordRange })) {
    records.push(decodeCommitRecord(key, value));
  }
  return verifyCommitRecords(records);
}
