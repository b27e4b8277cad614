import { Buffer } from "node:buffer";
import type { RangeRead, StoredEntry } from "@keywright/core";
import { maxRangeBytes, visibleRange } from "@keywright/core/engine";
import type { EncodedBatch } from "../commit/encode-batch.js";
import { commitFunction, serverTime } from "../sql/schema.js";
import { endOfLog, headKey, logKey } from "../sql/stored-keys.js";
import type { Statement } from "./caller.js";

const columns = "key, value, version, expires_at";
/** True for an entry that has not expired, by the clock of the server. */
const exists = `(expires_at IS NULL OR expires_at > ${serverTime.replace("clock_", "statement_")})`;

/** The statements of an engine on its table. */
export class Statements {
  readonly #table: string;

  constructor(prefix: string) {
    this.#table = prefix;
  }

  get(key: Uint8Array): Statement {
    const text = `SELECT ${columns} FROM ${this.#table} WHERE key = $1 AND ${exists}`;
    return { name: `${this.#table}_get`, text, values: [bufferOf(key)] };
  }

  getMany(keys: readonly Uint8Array[]): Statement {
    const text = `SELECT ${columns} FROM ${this.#table} WHERE key = ANY ($1::bytea[]) AND ${exists}`;
    return { name: `${this.#table}_get_many`, text, values: [keys.map(bufferOf)] };
  }

  /** Reads until the limit, or until the values that precede an entry reach the maximum. */
  getRange({ range, limit, reverse }: RangeRead): Statement {
    const { start, end } = visibleRange(range);
    const order = reverse ? "DESC" : "ASC";
    const text = `
      SELECT ${columns} FROM (
        SELECT ${columns},
          sum(length(value)) OVER (ORDER BY key ${order} ROWS UNBOUNDED PRECEDING)
            - length(value) AS before
        FROM ${this.#table} WHERE key >= $1 AND key < $2 AND ${exists}
        ORDER BY key ${order} LIMIT $3
      ) AS page WHERE before < ${maxRangeBytes} ORDER BY key ${order}`;
    const values = [bufferOf(start), bufferOf(end), limit];
    return { name: `${this.#table}_range_${order}`, text, values };
  }

  commit(id: Buffer, { parameters }: EncodedBatch): Statement {
    const places = parameters.map((_, i) => `$${i + 2}`).join(", ");
    const text = `SELECT ${commitFunction(this.#table)}($1, ${places})`;
    return { name: `${this.#table}_commit`, text, values: [id, ...parameters] };
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

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
