import type { Buffer } from "node:buffer";
import type { AbstractLevel, AbstractSnapshot } from "abstract-level";
import { compareBytes } from "../../bytes/compare-bytes.js";
import { textOfBytes } from "../../bytes/text-of-bytes.js";
import { DatabaseFormatError } from "../../errors/core-errors.js";
import type { KeyRange } from "../../keys/key-range.js";
import { sequenceOfVersionstamp } from "../../values/versionstamp.js";
import type {
  AtomicWrite,
  Engine,
  EngineLimits,
  MaybePromise,
  RangeRead,
  StoredEntry,
  WriteOutcome,
} from "../engine.js";
import { hasExpired } from "../has-expired.js";
import { KeyWatchers } from "../key-watchers.js";
import { maxRangeBytes } from "../range-end.js";
import { RangeWatchers } from "../range-watchers.js";
import { CheckedVersions } from "./checked-versions.js";
import { decodeCommitRecord, encodeCommitRecord, verifyCommitRecords } from "./commit-record.js";
import {
  type DatabaseMode,
  encodeDatabaseHeader,
  verifyDatabaseHeader,
} from "./database-header.js";
import { readFailure } from "./read-failure.js";
import { decodeRecord } from "./record.js";
import {
  commitRecordRange,
  firstEntryKey,
  firstSystemKey,
  headerKey,
  lastKey,
} from "./reserved-keys.js";
import { dependsOnStored, type RecordMutation, WriteGroup } from "./write-group.js";

/** Any abstract-level database: which encodings it was opened with does not matter. */
export type LevelDatabase = AbstractLevel<string | Buffer | Uint8Array, unknown, unknown>;

type Level = AbstractLevel<string | Buffer | Uint8Array, Uint8Array, Uint8Array>;

const bytes = { keyEncoding: "view", valueEncoding: "view" } as const;
/** Options of classic-level's; other databases do not look at them. */
const readAhead: object = { highWaterMarkBytes: 1024 * 1024 };
/** So many entries are read at once, and so many more than are missing where the first ones were too few. */
const mostAtOnce = 4096;
const spare = 256;
const nothing = new Uint8Array(0);
const synced: typeof bytes & { sync: boolean } = { ...bytes, sync: true };

export interface LevelEngineOptions {
  /** The database copies the bytes that it is given, and keeps no reference to them. */
  readonly copiesWrites?: boolean;
  /** How the database's keys are ordered, which it remembers: `"specification"` without it. */
  readonly mode?: DatabaseMode;
  /** An empty database is not begun, but refused. */
  readonly readOnly?: boolean;
}

/**
 * The engine on an abstract-level database: LevelDB on disk, a sorted map in memory, or one handed in. It has the
 * database to itself. The record formats and the commit protocol are in `docs/internals/commit-protocol.md`.
 */
export class LevelEngine implements Engine {
  readonly limits: EngineLimits = {
    checks: Number.POSITIVE_INFINITY,
    mutations: Number.POSITIVE_INFINITY,
  };
  readonly #level: Level;
  readonly #hasGetSync: boolean;
  /** Undefined where they are the database's own defaults: it is quicker without. */
  readonly #encodings: typeof bytes | undefined;
  readonly #copiesWrites: boolean;
  readonly #keyWatchers = new KeyWatchers();
  readonly #rangeWatchers = new RangeWatchers();
  readonly #checkedVersions = new CheckedVersions();
  #lastVersionstamp: string;
  #isWriting = false;

  private constructor(level: Level, lastVersionstamp: string, options: LevelEngineOptions) {
    this.#level = level;
    const isBytesByDefault =
      level.keyEncoding().name === "view" && level.valueEncoding().name === "view";
    this.#encodings = isBytesByDefault ? undefined : bytes;
    this.#copiesWrites = options.copiesWrites ?? false;
    this.#hasGetSync = (level.supports as { getSync?: boolean }).getSync === true;
    this.#lastVersionstamp = lastVersionstamp;
  }

  /**
   * Takes over an open database, writing its header where it is empty.
   *
   * @throws {DatabaseFormatError} where it has data that is not Keywright's, or of another format.
   * @throws {DatabaseModeError} where it was made in another mode.
   * @throws {CorruptionError} where its header or its commit records are damaged, or commits are missing.
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
      // Nothing is written before all has been found sound.
      if (!options.readOnly) await ensureLastKey(level);
      return new LevelEngine(level, lastVersionstamp, options);
    } catch (error) {
      throw readFailure(error);
    }
  }

  get(key: Uint8Array): MaybePromise<StoredEntry | undefined> {
    if (this.#hasGetSync) return unexpired(this.#getSync(key), Date.now());
    return this.#getAsync(key).then((entry) => unexpired(entry, Date.now()));
  }

  getMany(keys: readonly Uint8Array[]): MaybePromise<(StoredEntry | undefined)[]> {
    if (this.#hasGetSync) {
      if (!this.#isWriting) return unexpiredNow(keys.map((key) => this.#getSync(key)));
      if (this.#level.supports.explicitSnapshots) return this.#getManyOfSnapshot(keys);
    }
    return this.#getManyAsync(keys);
  }

  async getRange({ range, limit, reverse }: RangeRead): Promise<StoredEntry[]> {
    if (range.end.length === 0) return [];
    const { start: gte, end: lt } = visibleRange(range);
    try {
      const iterator = this.#level.iterator({ ...bytes, ...readAhead, gte, lt, reverse });
      try {
        const now = Date.now();
        const entries: StoredEntry[] = [];
        let wanted = limit;
        let size = 0;
        while (entries.length < limit && size < maxRangeBytes) {
          // It may be fewer than were asked for; none at all is the end.
          const batch = await iterator.nextv(Math.min(wanted, mostAtOnce));
          if (batch.length === 0) return entries;
          for (const [key, record] of batch) {
            const entry = decodeRecord(key, record);
            if (hasExpired(entry, now)) continue;
            entries.push(entry);
            size += entry.value.length;
            if (entries.length === limit || size >= maxRangeBytes) break;
          }
          wanted = limit - entries.length + spare;
        }
        if (this.#level.supports.seek) {
          // LevelDB passes over a block that it cannot read, and classic-level asks about that at the end alone.
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
    const group = new WriteGroup({
      sequence: sequenceOfVersionstamp(this.#lastVersionstamp) + 1,
      now: Date.now(),
      read: this.#hasGetSync ? (key) => this.#getSync(key) : await this.#readAhead(writes),
      versions: this.#checkedVersions,
      copiesWrites: this.#copiesWrites,
    });
    const outcomes = writes.map((write) => group.apply(write));
    if (group.last === undefined) return outcomes;
    const commitRecord = encodeCommitRecord({
      last: group.last,
      previous: this.#lastVersionstamp,
      mutations: group.mutations.length,
    });
    const sync = writes.some((write) => write.sync);
    await this.#write(group.mutations, commitRecord, sync);
    this.#lastVersionstamp = group.last;
    this.#keyWatchers.notify(group.mutations);
    this.#rangeWatchers.notify(group.mutations);
    return outcomes;
  }

  watch(keys: readonly Uint8Array[], onChange: () => void): () => void {
    return this.#keyWatchers.add(keys, onChange);
  }

  watchRanges(
    ranges: readonly KeyRange[],
    onChange: (keys: readonly Uint8Array[]) => void,
  ): () => void {
    return this.#rangeWatchers.add(ranges.map(visibleRange), onChange);
  }

  async close(): Promise<void> {
    await this.#level.close();
  }

  /** Reads the keys on which writes depend, for a database that has no reads that answer at once. */
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
      for (const { key, record } of mutations) {
        if (record === undefined) batch.del(key, options);
        else batch.put(key, record, options);
      }
      batch.put(commitRecord.key, commitRecord.value, options);
      await batch.write(sync ? synced : bytes);
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

  /** Beside a write that may come to be visible between two reads. */
  async #getManyOfSnapshot(keys: readonly Uint8Array[]): Promise<(StoredEntry | undefined)[]> {
    const snapshot = this.#level.snapshot();
    try {
      return unexpiredNow(keys.map((key) => this.#getSync(key, snapshot)));
    } finally {
      await snapshot.close();
    }
  }
}

/** The entry of a stored record, also where it has expired. */
function recordOf(key: Uint8Array, record: Uint8Array | undefined): StoredEntry | undefined {
  return record === undefined ? undefined : decodeRecord(key, record);
}

/** All of them by one time: entries of one commit that expire together are there together. */
function unexpiredNow(entries: (StoredEntry | undefined)[]): (StoredEntry | undefined)[] {
  const now = Date.now();
  return entries.map((entry) => unexpired(entry, now));
}

/** The database's own entries are shown to a range that begins among them, and to no other. */
function visibleRange({ start, end }: KeyRange): KeyRange {
  const isOfSystem = compareBytes(start, firstSystemKey) >= 0;
  return { start: isOfSystem ? start : firstEntryKey, end };
}

function unexpired(entry: StoredEntry | undefined, now: number): StoredEntry | undefined {
  return entry === undefined || hasExpired(entry, now) ? undefined : entry;
}

/** The keys of which a write has to know what is stored. */
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
  if (readOnly) throw new DatabaseFormatError("it is empty, and open for reading only");
  await level.put(headerKey, encodeDatabaseHeader(mode), synced);
}

/**
 * Stores the key behind all others where it is absent, as in databases of earlier versions. An iterator that seeks the end
 * lands on it; without it LevelDB would walk back over all that was removed there, in the caller's thread.
 */
async function ensureLastKey(level: Level): Promise<void> {
  if ((await level.get(lastKey, bytes)) === undefined) await level.put(lastKey, nothing, bytes);
}

async function readLastVersionstamp(level: Level): Promise<string> {
  const records = [];
  for await (const [key, value] of level.iterator({
    ...bytes,
    ...commitRecordRange,
  })) {
    records.push(decodeCommitRecord(key, value));
  }
  return verifyCommitRecords(records);
}
