import { Buffer } from "node:buffer";
import type { KeyRange, RangeRead, StoredEntry } from "@keywright/core";
import { decodeRecord, hasExpired, maxRangeBytes, visibleRange } from "@keywright/core/engine";
import type { SqliteConnection, SqliteStatement, SqliteValue } from "../driver/sqlite-driver.js";
import { decodeHead, type Head } from "./head.js";

/** How many entries are read before it is known how large they are. */
const firstEntries = 128;

/** The statements on one connection, which are prepared once, and the reads that they make. */
export abstract class EntryStatements {
  readonly #connection: Pick<SqliteConnection, "prepare">;
  readonly #statements = new Map<string, SqliteStatement>();

  constructor(connection: Pick<SqliteConnection, "prepare">) {
    this.#connection = connection;
  }

  /** Runs reads that see one state. */
  abstract inOneState<T>(body: () => T): T;

  /** Runs a read, and converts its errors. */
  abstract reading<T>(body: () => T, key?: Uint8Array): T;

  /** Runs a statement that returns no rows. Returns how many rows it has changed. */
  run(sql: string, ...parameters: SqliteValue[]): number {
    return this.prepare(sql).run(...parameters);
  }

  /** Returns the first column of the first row. */
  value(sql: string, ...parameters: SqliteValue[]): SqliteValue | undefined {
    return this.prepare(sql).get(...parameters)?.[0];
  }

  prepare(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Returns the head of the newest group. */
  head(): Head {
    const row = this.prepare(
      "SELECT sequence, head FROM commits ORDER BY sequence DESC LIMIT 1",
    ).get();
    return decodeHead((row?.[0] ?? 0) as number, (row?.[1] ?? new Uint8Array(0)) as Uint8Array);
  }

  /** Returns the entry of a key, also if it has expired. */
  entry(key: Uint8Array): StoredEntry | undefined {
    const record = this.value("SELECT record FROM entries WHERE key = ?", key);
    return record === undefined ? undefined : decodeRecord(key, record as Uint8Array);
  }

  /** True if there is a record of the key. */
  has(key: Uint8Array): boolean {
    return this.value("SELECT 1 FROM entries WHERE key = ?", key) !== undefined;
  }

  /** Returns the keys and records after a key, and its own with `isIncluded`. */
  rowsFrom(
    key: Uint8Array,
    isIncluded: boolean,
    limit: number,
  ): { readonly key: Uint8Array; readonly record: Uint8Array }[] {
    const from = isIncluded ? ">=" : ">";
    return this.prepare(`SELECT key, record FROM entries WHERE key ${from} ? ORDER BY key LIMIT ?`)
      .all(key, limit)
      .map(([found, record]) => ({ key: found as Uint8Array, record: record as Uint8Array }));
  }

  /** Returns the entry of a key at a time, in milliseconds since the epoch. */
  get(key: Uint8Array, now: number): StoredEntry | undefined {
    return this.reading(() => unexpired(this.entry(key), now), key);
  }

  /** Returns the entries of keys from one state. */
  getMany(keys: readonly Uint8Array[], now: number): (StoredEntry | undefined)[] {
    if (keys.length === 1) return [this.get(keys[0]!, now)];
    return this.inOneState(() => keys.map((key) => unexpired(this.entry(key), now)));
  }

  /** Returns the first entries of a range from one state. Several statements may be needed. */
  getRange(read: RangeRead, now: number, maxBytes: number = maxRangeBytes): StoredEntry[] {
    if (read.range.end.length === 0) return [];
    const isOne = read.limit <= firstEntries;
    const rows = isOne ? this.reading(() => this.#rows(read.range, read)) : [];
    const first = new RangeEntries(read, now, maxBytes);
    if (isOne && first.add(rows)) return first.entries;
    // Entries have expired, or there are many. All are read again, in one state.
    return this.inOneState(() => this.#getRangeInSteps(read, now, maxBytes));
  }

  #getRangeInSteps(read: RangeRead, now: number, maxBytes: number): StoredEntry[] {
    const found = new RangeEntries(read, now, maxBytes);
    let { range } = read;
    let limit = Math.min(read.limit, firstEntries);
    for (;;) {
      const rows = this.#rows(range, { limit, reverse: read.reverse });
      if (found.add(rows, limit)) return found.entries;
      range = rangeAfter(range, rows.at(-1)![0] as Uint8Array, read.reverse);
      limit = found.nextLimit();
    }
  }

  #rows(
    range: KeyRange,
    { limit, reverse }: Pick<RangeRead, "limit" | "reverse">,
  ): readonly (readonly SqliteValue[])[] {
    const { start, end } = visibleRange(range);
    const order = reverse ? "DESC" : "ASC";
    return this.prepare(
      `SELECT key, record FROM entries WHERE key >= ? AND key < ? ORDER BY key ${order} LIMIT ?`,
    ).all(start, end, limit);
  }
}

/** Collects the entries of a range until they are enough. */
class RangeEntries {
  readonly entries: StoredEntry[] = [];
  readonly #read: RangeRead;
  readonly #now: number;
  readonly #maxBytes: number;
  #bytes = 0;
  #rows = 0;

  constructor(read: RangeRead, now: number, maxBytes: number) {
    this.#read = read;
    this.#now = now;
    this.#maxBytes = maxBytes;
  }

  /**
   * Adds rows. Returns true if the entries are those of the read.
   *
   * @param limit how many rows were asked for. There are fewer only at the end of the range.
   */
  add(rows: readonly (readonly SqliteValue[])[], limit: number = this.#read.limit): boolean {
    this.#rows += rows.length;
    for (const [key, record] of rows) {
      const entry = decodeRecord(bufferOf(key as Uint8Array), record as Uint8Array);
      if (hasExpired(entry, this.#now)) continue;
      this.entries.push(entry);
      this.#bytes += entry.value.length;
      if (this.entries.length >= this.#read.limit || this.#bytes >= this.#maxBytes) return true;
    }
    return rows.length < limit;
  }

  /** Returns how many rows to read next, of which about half have room. */
  nextLimit(): number {
    const average = Math.max(1, this.#bytes / Math.max(1, this.#rows));
    const room = Math.ceil((2 * maxRangeBytes) / average);
    return Math.max(1, Math.min(this.#read.limit - this.entries.length, room));
  }
}

function rangeAfter({ start, end }: KeyRange, last: Uint8Array, reverse: boolean): KeyRange {
  return reverse ? { start, end: last } : { start: Buffer.concat([last, Buffer.of(0)]), end };
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function unexpired(entry: StoredEntry | undefined, now: number): StoredEntry | undefined {
  return entry === undefined || hasExpired(entry, now) ? undefined : entry;
}
