import type { Buffer } from "node:buffer";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { AbstractLevel, AbstractSnapshot } from "abstract-level";
import { textOfBytes } from "../../bytes/text-of-bytes.js";
import { type CorruptionError, DatabaseFormatError } from "../../errors/core-errors.js";
import type { KeyRange } from "../../keys/key-range.js";
import { sequenceOfVersionstamp } from "../../values/versionstamp.js";
import { ChangeWatchers } from "../change-watchers.js";
import type {
  AtomicWrite,
  Engine,
  EngineLimits,
  MaybePromise,
  RangeListener,
  RangeRead,
  StoredEntry,
  WriteOutcome,
} from "../engine.js";
import { hasExpired, maxRangeBytes } from "../engine.js";
import { visibleRange } from "../system-keys.js";
import { decodeCommitRecord, encodeCommitRecord, verifyCommitRecords } from "./commit-record.js";
import {
  type DatabaseMode,
  encodeDatabaseHeader,
  verifyDatabaseHeader,
} from "./database-header.js";
import type { FileChecker } from "./files/file-checker.js";
import { LogSync } from "./log-sync.js";
import { readFailure } from "./read-failure.js";
import { decodeRecord } from "./record.js";
import { commitRecordRange, headerKey, lastKey } from "./reserved-keys.js";
import {
  CheckedVersions,
  dependsOnStored,
  mutationsPerTurn,
  type RecordMutation,
  WriteGroup,
} from "./write-group.js";

/** Any abstract-level database, opened with any encodings. */
export type LevelDatabase = AbstractLevel<string | Buffer | Uint8Array, unknown, unknown>;

type Level = AbstractLevel<string | Buffer | Uint8Array, Uint8Array, Uint8Array>;

const bytes = { keyEncoding: "view", valueEncoding: "view" } as const;
/** Options of classic-level. Other databases ignore them. */
const readAhead: object = { highWaterMarkBytes: 1024 * 1024 };
/** The maximum number of entries that are read at once. */
const mostAtOnce = 4096;
/** Each batch after the first reads this many entries more than are missing. */
const spare = 256;
const nothing = new Uint8Array(0);
const synced: typeof bytes & { sync: boolean } = { ...bytes, sync: true };

export interface LevelEngineOptions {
  /** True if the database copies the bytes of a write and keeps no reference to them. */
  readonly copiesWrites?: boolean;
  /** The folder of a LevelDB database on a system that can sync folders. */
  readonly folder?: string | undefined;
  /** The default is `"specification"`. */
  readonly mode?: DatabaseMode;
  /** True to write nothing while opening, and to refuse an empty database. */
  readonly readOnly?: boolean;
  /** Checks the files of the database while it is open. */
  readonly files?: FileChecker | undefined;
}

/** The settings that all reads of one call share. */
interface RangeState {
  /** Milliseconds since the epoch. Entries that expire by then are absent. */
  readonly now: number;
  /** A read ends when its values have this many bytes. */
  readonly maxBytes: number;
  readonly snapshot?: AbstractSnapshot;
}

/**
 * The engine on an abstract-level database: LevelDB on disk, a sorted map in memory, or a database
 * of the caller. Nothing else may write to the database. `docs/internals/commit-protocol.md`
 * describes the record formats and the commit protocol.
 */
export class LevelEngine implements Engine {
  readonly limits: EngineLimits = {};
  readonly verifyFiles?: NonNullable<Engine["verifyFiles"]>;
  readonly getRanges?: NonNullable<Engine["getRanges"]>;
  readonly #files: FileChecker | undefined;
  readonly #level: Level;
  readonly #hasGetSync: boolean;
  /** Undefined if `bytes` is the database's default. Calls without encodings are faster. */
  readonly #encodings: typeof bytes | undefined;
  readonly #copiesWrites: boolean;
  readonly #logSync: LogSync | undefined;
  readonly #watchers = new ChangeWatchers();
  readonly #checkedVersions = new CheckedVersions();
  #lastVersionstamp: string;
  #isWriting = false;
  #hasFailed = false;
  /** Set when the files of the database were found damaged. All calls fail from then on. */
  #damage: CorruptionError | undefined;

  private constructor(level: Level, lastVersionstamp: string, options: LevelEngineOptions) {
    this.#level = level;
    const isBytesByDefault =
      level.keyEncoding().name === "view" && level.valueEncoding().name === "view";
    this.#encodings = isBytesByDefault ? undefined : bytes;
    this.#copiesWrites = options.copiesWrites ?? false;
    this.#logSync = options.folder === undefined ? undefined : new LogSync(options.folder);
    this.#hasGetSync = (level.supports as { getSync?: boolean }).getSync === true;
    this.#lastVersionstamp = lastVersionstamp;
    if (level.supports.explicitSnapshots) this.getRanges = (reads) => this.#getRanges(reads);
    const { files } = options;
    this.#files = files;
    if (files === undefined) return;
    this.verifyFiles = (onProgress) => files.verify(onProgress);
    files.start((error) => {
      this.#damage ??= error;
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

  get(key: Uint8Array): MaybePromise<StoredEntry | undefined> {
    if (this.#damage !== undefined) throw this.#damage;
    if (this.#hasGetSync) return unexpired(this.#getSync(key), Date.now());
    return this.#getAsync(key).then((entry) => unexpired(entry, Date.now()));
  }

  getMany(keys: readonly Uint8Array[]): MaybePromise<(StoredEntry | undefined)[]> {
    if (this.#damage !== undefined) throw this.#damage;
    if (this.#hasGetSync) {
      if (!this.#isWriting) return unexpiredNow(keys.map((key) => this.#getSync(key)));
      if (this.#level.supports.explicitSnapshots) return this.#getManyOfSnapshot(keys);
    }
    return this.#getManyAsync(keys);
  }

  getRange(read: RangeRead): Promise<StoredEntry[]> {
    return this.#getRange(read, { now: Date.now(), maxBytes: maxRangeBytes });
  }

  async #getRanges(reads: readonly RangeRead[]): Promise<StoredEntry[][]> {
    const snapshot = this.#level.snapshot();
    const state = { now: Date.now(), maxBytes: Number.POSITIVE_INFINITY, snapshot };
    try {
      const ranges: StoredEntry[][] = [];
      for (const read of reads) ranges.push(await this.#getRange(read, state));
      return ranges;
    } finally {
      await snapshot.close();
    }
  }

  async #getRange(
    { range, limit, reverse }: RangeRead,
    { now, maxBytes, snapshot }: RangeState,
  ): Promise<StoredEntry[]> {
    if (this.#damage !== undefined) throw this.#damage;
    if (range.end.length === 0) return [];
    const { start: gte, end: lt } = visibleRange(range);
    const of = snapshot === undefined ? {} : { snapshot };
    try {
      const iterator = this.#level.iterator({ ...bytes, ...readAhead, gte, lt, reverse, ...of });
      try {
        const entries: StoredEntry[] = [];
        let wanted = limit;
        let size = 0;
        while (entries.length < limit && size < maxBytes) {
          // A batch may be smaller than requested. Only an empty one means the end.
          const batch = await iterator.nextv(Math.min(wanted, mostAtOnce));
          if (batch.length === 0) return entries;
          for (const [key, record] of batch) {
            const entry = decodeRecord(key, record);
            if (hasExpired(entry, now)) continue;
            entries.push(entry);
            size += entry.value.length;
            if (entries.length === limit || size >= maxBytes) break;
          }
          wanted = limit - entries.length + spare;
        }
        if (this.#level.supports.seek) {
          // LevelDB skips a block that it cannot read. classic-level reports it only at the end of
          // a range, so every read has to reach that end.
          iterator.seek(range.end);
          await iterator.nextv(1);
        }
        return entries;
      } finally {
        await iterator.close();
      }
    } catch (error) {
      throw readFailure(error);
    }
  }

  async commit(writes: readonly AtomicWrite[]): Promise<WriteOutcome[]> {
    const damage = this.#damage;
    if (damage !== undefined) return writes.map(() => damage);
    const group = new WriteGroup({
      sequence: sequenceOfVersionstamp(this.#lastVersionstamp) + 1,
      now: Date.now(),
      read: this.#hasGetSync ? (key) => this.#getSync(key) : await this.#readAhead(writes),
      versions: this.#checkedVersions,
      copiesWrites: this.#copiesWrites,
    });
    const outcomes: WriteOutcome[] = [];
    for (const write of writes) {
      // No other commit runs meanwhile, so the state on which the steps depend stays.
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
    await this.#write(group.mutations, commitRecord, sync);
    this.#lastVersionstamp = group.last;
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
    this.#logSync?.close();
    const close = () => this.#level.close();
    await (this.#files?.close(close, this.#hasFailed) ?? close());
  }

  async #readAhead(
    writes: readonly AtomicWrite[],
  ): Promise<(key: Uint8Array) => StoredEntry | undefined> {
    const keys = writes.flatMap(keysReadBy);
    const results = await Promise.allSettled(keys.map((key) => this.#getAsync(key)));
    const reads = new Map(keys.map((key, index) => [textOfBytes(key), results[index]!]));
    return (key) => {
      const result = reads.get(textOfBytes(key))!;
      if (result.status === "rejected") throw result.reason;
      return result.value;
    };
  }

  async #write(
    mutations: readonly RecordMutation[],
    commitRecord: { readonly key: Uint8Array; readonly value: Uint8Array },
    sync: boolean,
  ): Promise<void> {
    const batch = this.#level.batch();
    this.#isWriting = true;
    // The types do not know that the options may be undefined.
    const options = this.#encodings as typeof bytes;
    try {
      for (const [i, { key, record }] of mutations.entries()) {
        if (i % mutationsPerTurn === mutationsPerTurn - 1) await nextTurn();
        if (record === undefined) batch.del(key, options);
        else batch.put(key, record, options);
      }
      batch.put(commitRecord.key, commitRecord.value, options);
      this.#logSync?.beforeBatch(sync);
      await batch.write(sync ? synced : bytes);
      const syncing = sync ? this.#logSync?.afterBatch() : undefined;
      if (syncing !== undefined) await syncing;
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    } finally {
      this.#isWriting = false;
      await batch.close();
    }
  }

  #getSync(key: Uint8Array, snapshot?: AbstractSnapshot): StoredEntry | undefined {
    // The types do not know that the options may be undefined.
    const options = (
      snapshot === undefined ? this.#encodings : { ...bytes, snapshot }
    ) as typeof bytes;
    try {
      return recordOf(key, this.#level.getSync(key, options));
    } catch (error) {
      throw readFailure(error, key);
    }
  }

  async #getAsync(key: Uint8Array): Promise<StoredEntry | undefined> {
    try {
      return recordOf(key, await this.#level.get(key, bytes));
    } catch (error) {
      throw readFailure(error, key);
    }
  }

  async #getManyAsync(keys: readonly Uint8Array[]): Promise<(StoredEntry | undefined)[]> {
    try {
      const records = await this.#level.getMany([...keys], bytes);
      return unexpiredNow(keys.map((key, index) => recordOf(key, records[index])));
    } catch (error) {
      throw readFailure(error);
    }
  }

  /** Reads from a snapshot, because the write in progress may become visible between two reads. */
  async #getManyOfSnapshot(keys: readonly Uint8Array[]): Promise<(StoredEntry | undefined)[]> {
    const snapshot = this.#level.snapshot();
    try {
      return unexpiredNow(keys.map((key) => this.#getSync(key, snapshot)));
    } finally {
      await snapshot.close();
    }
  }
}

function recordOf(key: Uint8Array, record: Uint8Array | undefined): StoredEntry | undefined {
  return record === undefined ? undefined : decodeRecord(key, record);
}

/**
 * Omits expired entries. All are compared with the same time, so that entries of one commit that
 * expire together disappear together.
 */
function unexpiredNow(entries: (StoredEntry | undefined)[]): (StoredEntry | undefined)[] {
  const now = Date.now();
  return entries.map((entry) => unexpired(entry, now));
}

function unexpired(entry: StoredEntry | undefined, now: number): StoredEntry | undefined {
  return entry === undefined || hasExpired(entry, now) ? undefined : entry;
}

function keysReadBy({ checks, mutations }: AtomicWrite): Uint8Array[] {
  return [...checks, ...mutations.filter(dependsOnStored)].map(({ key }) => key);
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
