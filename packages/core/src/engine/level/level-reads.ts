import type { Buffer } from "node:buffer";
import type { AbstractLevel, AbstractSnapshot } from "abstract-level";
import type { CorruptionError } from "../../errors/core-errors.js";
import { type KeyRange, restOfRange } from "../../keys/key-range.js";
import {
  type EntryVisitor,
  hasExpired,
  type KeyList,
  type KeyVisitor,
  type MaybePromise,
  maxRangeBytes,
  type RangeRead,
  type StoredEntry,
} from "../engine.js";
import type { ExpiryClock } from "../expiry-clock.js";
import { keyAt } from "../read/visit-entries.js";
import { visibleRange } from "../system-keys.js";
import { readFailure } from "./read-failure.js";
import { decodeRecord, RecordEntry, unexpiredValueBytes } from "./record.js";

export type Level = AbstractLevel<string | Buffer | Uint8Array, Uint8Array, Uint8Array>;

export const bytes = { keyEncoding: "view", valueEncoding: "view" } as const;
/** A batch of classic-level ends after this many bytes of keys and values. */
const batchBytes = 1024 * 1024;
/** Options of classic-level. Other databases ignore them. */
const readAhead: object = { highWaterMarkBytes: batchBytes };
/** The maximum number of entries that are read at once. */
const mostAtOnce = 4096;
/** If some entries have expired, this many more are read than are missing. */
const spare = 256;

/** What all reads of a database share. */
export interface LevelSource {
  readonly level: Level;
  readonly clock: ExpiryClock;
  readonly hasGetSync: boolean;
  /** True if an iterator that has reached its limit has reported damage before the next entry. */
  readonly checksAtLimit: boolean;
  /** Undefined if `bytes` is the database's default. Calls without encodings are faster. */
  readonly encodings: typeof bytes | undefined;
  /** True while a batch is written, which may become visible between two synchronous reads. */
  isWriting: boolean;
  /** Set when the files of the database were found damaged. All calls fail from then on. */
  damage: CorruptionError | undefined;
}

/** The key of an entry, and what is stored under it. */
type LevelRecord = readonly [Uint8Array, Uint8Array];

interface LevelRecords {
  readonly records: readonly LevelRecord[];
  readonly isEnd: boolean;
  /** False if a block among them may have been skipped because it could not be read. */
  readonly isChecked: boolean;
}

/** A state of the database that does not change. */
export interface LevelState {
  /** Its snapshot is undefined as long as it is the newest state. */
  readonly held: { readonly snapshot: AbstractSnapshot | undefined };
  /** Milliseconds since the epoch. Entries that expire by then are absent. */
  readonly now: number;
}

/** Reads of an abstract-level database: of its newest state, or of one that does not change. */
export class LevelReads {
  readonly #source: LevelSource;
  readonly #state: LevelState | undefined;
  /** The options of reads of single keys in a snapshot. */
  #snapshotOptions: typeof bytes | undefined;

  constructor(source: LevelSource, state?: LevelState) {
    this.#source = source;
    this.#state = state;
  }

  /** The options of reads of single keys. The types do not know that they may be undefined. */
  get #options(): typeof bytes {
    if (this.#snapshotOptions !== undefined) return this.#snapshotOptions;
    const snapshot = this.#state?.held.snapshot;
    if (snapshot === undefined) return this.#source.encodings as typeof bytes;
    this.#snapshotOptions = { ...bytes, snapshot } as typeof bytes;
    return this.#snapshotOptions;
  }

  get(key: Uint8Array): MaybePromise<StoredEntry | undefined> {
    if (this.#source.damage !== undefined) throw this.#source.damage;
    if (this.#source.hasGetSync) {
      const entry = this.getSync(key);
      return entry?.expireAt === undefined ? entry : unexpired(entry, this.#now());
    }
    return this.getAsync(key).then((entry) => unexpired(entry, this.#now()));
  }

  getMany(keys: readonly Uint8Array[]): MaybePromise<(StoredEntry | undefined)[]> {
    const { damage, hasGetSync, isWriting, level } = this.#source;
    if (damage !== undefined) throw damage;
    if (!hasGetSync) return this.#getManyAsync(keys);
    if (this.#state !== undefined || !isWriting)
      return this.#unexpired(keys.map((key) => this.getSync(key)));
    return level.supports.explicitSnapshots
      ? this.#inSnapshot(async (reads) => reads.#unexpired(keys.map((key) => reads.getSync(key))))
      : this.#getManyAsync(keys);
  }

  /** @param maxBytes a read ends when its values have this many bytes. */
  async getRange(read: RangeRead, maxBytes: number = maxRangeBytes): Promise<StoredEntry[]> {
    const entries: StoredEntry[] = [];
    await this.#visit(read, maxBytes, ({ key, value, versionstamp, expireAt }) => {
      entries.push({ key, value, versionstamp, expireAt });
    });
    return entries;
  }

  visitRange(read: RangeRead, visit: EntryVisitor): Promise<void> {
    return this.#visit(read, Number.POSITIVE_INFINITY, visit);
  }

  visitMany(keys: KeyList, visit: KeyVisitor): MaybePromise<void> {
    const { damage, isWriting, level } = this.#source;
    if (damage !== undefined) throw damage;
    if (!this.#source.hasGetSync) return this.#visitManyAsync(keys, visit);
    if (this.#state !== undefined || !isWriting) return this.#visitManySync(keys, visit);
    return level.supports.explicitSnapshots
      ? this.#inSnapshot(async (reads) => reads.#visitManySync(keys, visit))
      : this.#visitManyAsync(keys, visit);
  }

  #visitManySync({ bytes, starts, ends }: KeyList, visit: KeyVisitor): void {
    const { level } = this.#source;
    const options = this.#options;
    const now = this.#now();
    const entry = new RecordEntry();
    for (let i = 0; i < starts.length; i++) {
      const key = bytes.subarray(starts[i]!, ends[i]!);
      try {
        const record = level.getSync(key, options);
        if (record === undefined) continue;
        entry.read(key, record);
      } catch (error) {
        throw readFailure(error, key);
      }
      if (entry.expireAt === undefined || !hasExpired(entry, now)) visit(i, entry);
    }
  }

  async #visitManyAsync(keys: KeyList, visit: KeyVisitor): Promise<void> {
    const entries = await this.#getManyAsync(keys.starts.map((_, i) => keyAt(keys, i)));
    for (const [i, entry] of entries.entries()) if (entry !== undefined) visit(i, entry);
  }

  async #visit(
    { range, limit, reverse }: RangeRead,
    maxBytes: number,
    visit: EntryVisitor,
  ): Promise<void> {
    const { damage } = this.#source;
    if (damage !== undefined) throw damage;
    if (range.end.length === 0) return;
    const now = this.#now();
    const entry = new RecordEntry();
    let unread: KeyRange | undefined = visibleRange(range);
    let missing = limit;
    let wanted = limit;
    let size = 0;
    try {
      while (unread !== undefined && missing > 0 && size < maxBytes) {
        const read: RangeRead = { range: unread, limit: wanted, reverse };
        const { records, isEnd } = await this.#readRecords(read, maxBytes - size);
        if (!isEnd && this.#mayChange && !isEnough(records, { limit, maxBytes, now }))
          return await this.#inSnapshot((reads) =>
            reads.#visit({ range, limit, reverse }, maxBytes, visit),
          );
        for (const [key, record] of records) {
          entry.read(key, record);
          if (entry.expireAt !== undefined && hasExpired(entry, now)) continue;
          visit(entry);
          missing--;
          size += entry.valueBytes;
          if (missing === 0 || size >= maxBytes) break;
        }
        unread = isEnd ? undefined : restOfRange(unread, records.at(-1)![0], reverse);
        wanted = missing + spare;
      }
    } catch (error) {
      throw readFailure(error);
    }
  }

  /** Reads records as they are stored, until the end of the range, the limit, or `maxBytes`. */
  async #readRecords(read: RangeRead, maxBytes: number): Promise<LevelRecords> {
    if (!this.#source.checksAtLimit) return await this.#readBatches(read, maxBytes, false);
    try {
      const records = await this.#readBatches(read, maxBytes, true);
      if (records.isChecked) return records;
    } catch {
      // The damage may be after the limit. Without a limit, only what is read is checked.
    }
    return await this.#readBatches(read, maxBytes, false);
  }

  async #readBatches(
    { range, limit, reverse }: RangeRead,
    maxBytes: number,
    checksAtLimit: boolean,
  ): Promise<LevelRecords> {
    const { level } = this.#source;
    const { start: gte, end: lt } = range;
    const snapshot = this.#state?.held.snapshot;
    const of = snapshot === undefined ? {} : { snapshot };
    const most = checksAtLimit ? { limit } : {};
    const options = { ...bytes, ...readAhead, gte, lt, reverse, ...most, ...of };
    const iterator = level.iterator(options);
    try {
      const records: LevelRecord[] = [];
      let size = 0;
      let sizeOfLast = 0;
      let isEnd = false;
      while (!isEnd && records.length < limit && size < maxBytes) {
        // A batch may be smaller than requested. Only an empty one means the end.
        const batch = await iterator.nextv(Math.min(limit - records.length, mostAtOnce));
        isEnd = batch.length === 0;
        sizeOfLast = 0;
        for (const record of batch) {
          records.push(record);
          size += record[1].length;
          sizeOfLast += record[0].length + record[1].length;
        }
      }
      if (checksAtLimit && records.length === limit) {
        // A batch that has ended because of its bytes has not tried to read the next entry.
        return { records, isEnd, isChecked: sizeOfLast <= batchBytes };
      }
      if (!isEnd && level.supports.seek) {
        // classic-level reports a block that it cannot read only at the end of a range.
        iterator.seek(lt);
        await iterator.nextv(1);
      }
      return { records, isEnd, isChecked: true };
    } finally {
      await iterator.close();
    }
  }

  /** Returns an entry even if it has expired. */
  getSync(key: Uint8Array): StoredEntry | undefined {
    try {
      return recordOf(key, this.#source.level.getSync(key, this.#options));
    } catch (error) {
      throw readFailure(error, key);
    }
  }

  /** Returns an entry even if it has expired. */
  async getAsync(key: Uint8Array): Promise<StoredEntry | undefined> {
    try {
      return recordOf(key, await this.#source.level.get(key, this.#options));
    } catch (error) {
      throw readFailure(error, key);
    }
  }

  async #getManyAsync(keys: readonly Uint8Array[]): Promise<(StoredEntry | undefined)[]> {
    try {
      const records = await this.#source.level.getMany([...keys], this.#options);
      return this.#unexpired(keys.map((key, index) => recordOf(key, records[index])));
    } catch (error) {
      throw readFailure(error);
    }
  }

  /** Reads from a snapshot, because the write in progress may become visible between two reads. */
  async #inSnapshot<T>(read: (reads: LevelReads) => Promise<T>): Promise<T> {
    const snapshot = this.#source.level.snapshot();
    try {
      return await read(new LevelReads(this.#source, { held: { snapshot }, now: this.#now() }));
    } finally {
      await snapshot.close();
    }
  }

  /**
   * Omits expired entries. All are compared with the same time, so that entries of one commit that
   * expire together disappear together.
   */
  #unexpired(entries: (StoredEntry | undefined)[]): (StoredEntry | undefined)[] {
    const now = this.#now();
    return entries.map((entry) => unexpired(entry, now));
  }

  /** True if two reads may see different states although snapshots could prevent it. */
  get #mayChange(): boolean {
    return this.#state === undefined && this.#source.level.supports.explicitSnapshots === true;
  }

  #now(): number {
    return this.#state?.now ?? this.#source.clock.now();
  }
}

/** True if no more records need to be read for as many entries, or as many bytes of values. */
function isEnough(
  records: readonly LevelRecord[],
  { limit, maxBytes, now }: { readonly limit: number; maxBytes: number; now: number },
): boolean {
  let entries = 0;
  let size = 0;
  for (const [, record] of records) {
    const valueBytes = unexpiredValueBytes(record, now);
    if (valueBytes === undefined) continue;
    entries++;
    size += valueBytes;
  }
  return entries >= limit || size >= maxBytes;
}

function recordOf(key: Uint8Array, record: Uint8Array | undefined): StoredEntry | undefined {
  return record === undefined ? undefined : decodeRecord(key, record);
}

function unexpired(entry: StoredEntry | undefined, now: number): StoredEntry | undefined {
  return entry === undefined || hasExpired(entry, now) ? undefined : entry;
}
