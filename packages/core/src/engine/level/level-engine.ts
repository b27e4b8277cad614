import { Buffer } from "node:buffer";
import type { AbstractLevel, AbstractSnapshot } from "abstract-level";
import { DatabaseFormatError } from "../../errors/core-errors.js";
import { formatVersionstamp, sequenceOfVersionstamp } from "../../values/versionstamp.js";
import type {
  AtomicWrite,
  Engine,
  EngineLimits,
  MaybePromise,
  RangeRead,
  StoredEntry,
  WriteOutcome,
} from "../engine.js";
import { decodeCommitRecord, encodeCommitRecord, verifyCommitRecords } from "./commit-record.js";
import { encodeDatabaseHeader, verifyDatabaseHeader } from "./database-header.js";
import { readFailure } from "./read-failure.js";
import { decodeRecord, encodeRecord, recordSize } from "./record.js";
import { commitRecordRange, firstEntryKey, headerKey } from "./reserved-keys.js";

/** Any abstract-level database: which encodings it was opened with does not matter. */
export type LevelDatabase = AbstractLevel<string | Buffer | Uint8Array, unknown, unknown>;

type Level = AbstractLevel<string | Buffer | Uint8Array, Uint8Array, Uint8Array>;

const bytes = { keyEncoding: "view", valueEncoding: "view" } as const;
/** Options of classic-level's; other databases do not look at them. */
const readAhead: object = { highWaterMarkBytes: 1024 * 1024 };
const synced: typeof bytes & { sync: boolean } = { ...bytes, sync: true };

export interface LevelEngineOptions {
  /** The database copies the bytes that it is given, and keeps no reference to them. */
  readonly copiesWrites?: boolean;
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
  readonly #allocate: (size: number) => Uint8Array;
  #lastVersionstamp: string;
  #isWriting = false;

  private constructor(level: Level, lastVersionstamp: string, options: LevelEngineOptions) {
    this.#level = level;
    const isBytesByDefault =
      level.keyEncoding().name === "view" && level.valueEncoding().name === "view";
    this.#encodings = isBytesByDefault ? undefined : bytes;
    // Small pieces of a shared pool are quick to make, and must not be kept: each keeps all of the pool alive.
    this.#allocate = options.copiesWrites ? Buffer.allocUnsafe : (size) => new Uint8Array(size);
    this.#hasGetSync = (level.supports as { getSync?: boolean }).getSync === true;
    this.#lastVersionstamp = lastVersionstamp;
  }

  /**
   * Takes over an open database, writing its header where it is empty.
   *
   * @throws {DatabaseFormatError} where it has data that is not Keywright's, or of another format.
   * @throws {CorruptionError} where its header or its commit records are damaged, or commits are missing.
   */
  static async open(
    database: LevelDatabase,
    options: LevelEngineOptions = {},
  ): Promise<LevelEngine> {
    const level = database as unknown as Level;
    try {
      const header = await level.get(headerKey, bytes);
      if (header === undefined) {
        await initialise(level);
      } else {
        verifyDatabaseHeader(header);
      }
      return new LevelEngine(level, await readLastVersionstamp(level), options);
    } catch (error) {
      throw readFailure(error);
    }
  }

  get(key: Uint8Array): MaybePromise<StoredEntry | undefined> {
    return this.#hasGetSync ? this.#getSync(key) : this.#getAsync(key);
  }

  getMany(keys: readonly Uint8Array[]): MaybePromise<(StoredEntry | undefined)[]> {
    if (this.#hasGetSync) {
      if (!this.#isWriting) return keys.map((key) => this.#getSync(key));
      if (this.#level.supports.explicitSnapshots) return this.#getManyOfSnapshot(keys);
    }
    return this.#getManyAsync(keys);
  }

  async getRange({ range, limit, reverse }: RangeRead): Promise<StoredEntry[]> {
    if (range.end.length === 0) return [];
    const gte = range.start[0] ? range.start : firstEntryKey;
    try {
      const iterator = this.#level.iterator({
        ...bytes,
        ...readAhead,
        gte,
        lt: range.end,
        reverse,
      });
      try {
        const entries: StoredEntry[] = [];
        while (entries.length < limit) {
          // It may be fewer than were asked for; none at all is the end.
          const batch = await iterator.nextv(limit - entries.length);
          if (batch.length === 0) return entries;
          for (const [key, record] of batch) entries.push(decodeRecord(key, record));
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
    const sequence = sequenceOfVersionstamp(this.#lastVersionstamp) + 1;
    const group = new Group(sequence, this.#allocate);
    const outcomes: WriteOutcome[] = [];
    for (const write of writes) outcomes.push(await this.#apply(write, group));
    if (group.last === undefined) return outcomes;
    const { key, value } = encodeCommitRecord({
      last: group.last,
      previous: this.#lastVersionstamp,
      mutations: group.mutations.length,
    });
    group.mutations.push({ key, record: value });
    await this.#write(
      group.mutations,
      writes.some((write) => write.sync),
    );
    this.#lastVersionstamp = group.last;
    return outcomes;
  }

  async close(): Promise<void> {
    await this.#level.close();
  }

  /** Adds a write to its group, where its checks hold. */
  async #apply(write: AtomicWrite, group: Group): Promise<WriteOutcome> {
    try {
      for (const { key, versionstamp } of write.checks) {
        if ((await this.#versionstampIn(group, key)) !== versionstamp) return null;
      }
    } catch (error) {
      // Nothing has been written yet: the other writes of the group go on.
      return readFailure(error);
    }
    return group.add(write);
  }

  async #versionstampIn(group: Group, key: Uint8Array): Promise<string | null> {
    const inGroup = group.versionstampOf(key);
    if (inGroup !== undefined) return inGroup;
    const entry = this.get(key);
    return (entry instanceof Promise ? await entry : entry)?.versionstamp ?? null;
  }

  async #write(mutations: readonly RecordMutation[], sync: boolean): Promise<void> {
    const batch = this.#level.batch();
    this.#isWriting = true;
    // The types do not know that the options may be undefined.
    const options = this.#encodings as typeof bytes;
    try {
      for (const { key, record } of mutations) {
        if (record === undefined) batch.del(key, options);
        else batch.put(key, record, options);
      }
      await batch.write(sync ? synced : bytes);
    } finally {
      this.#isWriting = false;
      await batch.close();
    }
  }

  #getSync(key: Uint8Array, snapshot?: AbstractSnapshot): StoredEntry | undefined {
    const options = snapshot === undefined ? bytes : { ...bytes, snapshot };
    try {
      return entryOf(key, this.#level.getSync(key, options));
    } catch (error) {
      throw readFailure(error, key);
    }
  }

  async #getAsync(key: Uint8Array): Promise<StoredEntry | undefined> {
    try {
      return entryOf(key, await this.#level.get(key, bytes));
    } catch (error) {
      throw readFailure(error, key);
    }
  }

  async #getManyAsync(keys: readonly Uint8Array[]): Promise<(StoredEntry | undefined)[]> {
    try {
      const records = await this.#level.getMany([...keys], bytes);
      return keys.map((key, index) => entryOf(key, records[index]));
    } catch (error) {
      throw readFailure(error);
    }
  }

  /** Beside a write that may come to be visible between two reads. */
  async #getManyOfSnapshot(keys: readonly Uint8Array[]): Promise<(StoredEntry | undefined)[]> {
    const snapshot = this.#level.snapshot();
    try {
      return keys.map((key) => this.#getSync(key, snapshot));
    } finally {
      await snapshot.close();
    }
  }
}

/** A record to store under a key; undefined to remove the one that is there. */
interface RecordMutation {
  readonly key: Uint8Array;
  readonly record: Uint8Array | undefined;
}

/** The writes of one group so far: what LevelDB has to do, and what the keys have come to be. */
class Group {
  readonly mutations: RecordMutation[] = [];
  /** The versionstamp of the last write, undefined where there is none yet. */
  last: string | undefined;
  readonly #sequence: number;
  readonly #allocate: (size: number) => Uint8Array;
  readonly #versionstamps = new Map<string, string | null>();
  #order = 0;

  constructor(sequence: number, allocate: (size: number) => Uint8Array) {
    this.#sequence = sequence;
    this.#allocate = allocate;
  }

  /** The versionstamp that a key has after the writes so far; undefined where none of them touched it. */
  versionstampOf(key: Uint8Array): string | null | undefined {
    return this.#versionstamps.size === 0 ? undefined : this.#versionstamps.get(keyText(key));
  }

  add(write: AtomicWrite): string {
    const versionstamp = formatVersionstamp(this.#sequence, this.#order++);
    for (const mutation of write.mutations) {
      const { key } = mutation;
      if (mutation.type === "set") {
        const record = this.#allocate(recordSize(mutation.value));
        encodeRecord(key, mutation.value, versionstamp, record);
        this.mutations.push({ key, record });
        this.#versionstamps.set(keyText(key), versionstamp);
      } else {
        this.mutations.push({ key, record: undefined });
        this.#versionstamps.set(keyText(key), null);
      }
    }
    this.last = versionstamp;
    return versionstamp;
  }
}

function entryOf(key: Uint8Array, record: Uint8Array | undefined): StoredEntry | undefined {
  return record === undefined ? undefined : decodeRecord(key, record);
}

/** A text that is the same for the same bytes, to find a key by in a map. */
function keyText(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1");
}

async function initialise(level: Level): Promise<void> {
  const iterator = level.keys({ keyEncoding: "view", limit: 1 });
  try {
    if ((await iterator.next()) !== undefined) {
      throw new DatabaseFormatError("it holds data and has no Keywright header");
    }
  } finally {
    await iterator.close();
  }
  await level.put(headerKey, encodeDatabaseHeader(), synced);
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
