import { Buffer } from "node:buffer";
import type { RangeRead, StoredEntry } from "@keywright/core";
import { maxRangeBytes, visibleRange } from "@keywright/core/engine";
import type { EncodedBatch } from "../commit/encode-batch.js";
import { commitFunction, serverTime } from "../sql/schema.js";
import { endOfLog, headKey, logKey } from "../sql/stored-keys.js";
import type { Statement } from "./caller.js";

const columns = "key, value, version, expires_at";
const statementTime = serverTime.replace("clock_", "statement_");

/** The statements of an engine on its table. */
export class Statements {
  readonly #table: string;
  /** Milliseconds since the epoch. Entries that expire by then are absent. */
  readonly #now: number | undefined;

  /** @param now the default is the time of each statement, by the clock of the server. */
  constructor(prefix: string, now?: number) {
    this.#table = prefix;
    this.#now = now;
  }

  /** Returns the same statements for another time. */
  at(now: number): Statements {
    return new Statements(this.#table, now);
  }

  get(key: Uint8Array): Statement {
    return this.#read("get", [bufferOf(key)], (exists) => {
      return `SELECT ${columns} FROM ${this.#table} WHERE key = $1 AND ${exists}`;
    });
  }

  getMany(keys: readonly Uint8Array[]): Statement {
    return this.#read("get_many", [keys.map(bufferOf)], (exists) => {
      return `SELECT ${columns} FROM ${this.#table} WHERE key = ANY ($1::bytea[]) AND ${exists}`;
    });
  }

  /** Reads until the limit, or until the values that precede an entry reach the maximum. */
  getRange({ range, limit, reverse }: RangeRead): Statement {
    const { start, end } = visibleRange(range);
    const order = reverse ? "DESC" : "ASC";
    const values = [bufferOf(start), bufferOf(end), limit];
    return this.#read(
      `range_${order}`,
      values,
      (exists) => `
      SELECT ${columns} FROM (
        SELECT ${columns},
          sum(length(value)) OVER (ORDER BY key ${order} ROWS UNBOUNDED PRECEDING)
            - length(value) AS before
        FROM ${this.#table} WHERE key >= $1 AND key < $2 AND ${exists}
        ORDER BY key ${order} LIMIT $3
      ) AS page WHERE before < ${maxRangeBytes} ORDER BY key ${order}`,
    );
  }

  commit(id: Buffer, { parameters }: EncodedBatch): Statement {
    const places = parameters.map((_, i) => `$${i + 2}`).join(", ");
    const text = `SELECT ${commitFunction(this.#table)}($1, ${places})`;
    return { name: `${this.#table}_commit`, text, values: [id, ...parameters] };
  }

  /**
   * Begins a transaction whose reads see the state of this statement, and returns the time and the
   * last versionstamp of the state. The server ends it after a minute without a read.
   *
   * @param first a read that is sent with it. Several statements in one text have no parameters.
   */
  begin(first?: Statement): string {
    return `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
      SET LOCAL idle_in_transaction_session_timeout = 60000;
      SELECT ${statementTime}, version FROM ${this.#table} WHERE key = ${literalOf(headKey)};
      ${first?.text.replace(/\$(\d+)/g, (_, n) => literalOf(first.values[n - 1])) ?? ""}`;
  }

  head(): Statement {
    const text = `SELECT value, version FROM ${this.#table} WHERE key = $1`;
    return { name: `${this.#table}_head`, text, values: [headKey] };
  }

  /** Reads the numbers and changed keys of the batches after one, in order. */
  log(after: number, limit: number): Statement {
    const text = `SELECT key, value FROM ${this.#table} WHERE key >= $1 AND key < $2 ORDER BY key LIMIT $3`;
    return { name: `${this.#table}_log`, text, values: [logKey(after + 1), endOfLog, limit] };
  }

  /**
   * @param text returns the text for a condition that is true for entries that have not expired.
   */
  #read(name: string, values: readonly unknown[], text: (exists: string) => string): Statement {
    const now = this.#now;
    const time = now === undefined ? statementTime : `$${values.length + 1}`;
    return {
      name: `${this.#table}_${now === undefined ? "" : "view_"}${name}`,
      text: text(`(expires_at IS NULL OR expires_at > ${time})`),
      values: now === undefined ? values : [...values, now],
    };
  }
}

/** Returns the entry in a row of `get`, `getMany` or `getRange`. */
export function entryOf([key, value, version, expiresAt]: readonly unknown[]): StoredEntry {
  return {
    key: key as Buffer,
    value: value as Buffer,
    versionstamp: (version as Buffer).toString("hex"),
    expireAt: expiresAt === null ? undefined : Number(expiresAt),
  };
}

/** Returns the number of the batch that has a version. */
export function sequenceOf(version: Buffer): number {
  return Number(version.readBigUInt64BE());
}

/** Returns a parameter of a read as SQL. */
function literalOf(value: unknown): string {
  if (Array.isArray(value)) return `ARRAY[${value.map(literalOf).join(", ")}]`;
  return Buffer.isBuffer(value) ? `'\\x${value.toString("hex")}'::bytea` : String(Number(value));
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
