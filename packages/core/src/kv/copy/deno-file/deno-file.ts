import { statSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { deserialize } from "node:v8";
import { CopyUnreadableError } from "../../../errors/copy-errors.js";
import {
  DatabaseFormatError,
  DatabasePathError,
  InvalidOptionError,
} from "../../../errors/core-errors.js";
import { decodeKey } from "../../../keys/decode-key.js";
import { encodeEntryKey } from "../../../keys/encode-key.js";
import type { KvKey } from "../../../keys/key.js";
import { denoOrder } from "../../../keys/key-order.js";
import { KvU64 } from "../../../values/kv-u64.js";
import type { KvEntry, KvEntryMaybe } from "../../kv.js";
import type { CopySource } from "../copy-source.js";
import type { QueuedMessage } from "../queued-message.js";

/** The version of the tables that Deno 2.9 makes. It stores it in the table `migration_state`. */
const knownVersion = 3;
const entriesAtOnce = 500;
/** Milliseconds. */
const busyTimeout = 10_000;

/** `SQLITE_ERROR` of a statement about a table that does not exist, and `SQLITE_NOTADB`. */
const [noSuchTable, notADatabase] = [1, 26];

/** `v_encoding` of a row of the table `kv`. */
const encodings = { v8: 1, u64: 2, bytes: 3 } as const;

interface EntryRow {
  readonly k: Uint8Array;
  readonly v: Uint8Array;
  readonly v_encoding: number;
  readonly version: bigint;
  /** Milliseconds since the epoch, or -1. */
  readonly expiration_ms: bigint;
}

interface MessageRow {
  readonly ts: bigint;
  readonly id: string;
  readonly data: Uint8Array;
  /** The milliseconds before each attempt that is left, as JSON. */
  readonly backoff_schedule: string;
  /** Encoded keys, each a list of bytes, as JSON. */
  readonly keys_if_undelivered: string;
}

/** The part of `node:sqlite` that is used here. */
interface Sqlite {
  readonly DatabaseSync: new (path: string, options: { readOnly: boolean }) => Database;
}

interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

interface Statement {
  setReadBigInts(reads: boolean): void;
  get(...parameters: unknown[]): unknown;
  all(...parameters: unknown[]): unknown[];
}

/**
 * Reads one state of a file of Deno KV by its tables: also what Deno KV itself does not report, the
 * expiry times and the messages of the queue. Programs may use the file at the same time.
 *
 * The tables are those that https://github.com/denoland/denokv makes (`sqlite/lib.rs`). The file
 * was written by V8 of Deno, so only Deno can read all values.
 *
 * @throws {InvalidOptionError} if this runtime is not Deno.
 * @throws {DatabasePathError} if there is no file.
 * @throws {DatabaseFormatError} if the file is not one of Deno KV, or has later tables.
 */
export function openDenoFile(path: string): CopySource {
  const database = openDatabase(path);
  try {
    database.exec("BEGIN");
    assertTables(database, path);
    const reads = new DenoFileReads(database);
    return {
      reads,
      listing: undefined,
      messages: () => messagesOf(database),
      getNewest: async (key) => {
        const newest = openDatabase(path);
        try {
          return await new DenoFileReads(newest).get(key);
        } finally {
          newest.close();
        }
      },
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

function openDatabase(path: string): Database {
  // Asked for in this way, because bundlers try to resolve modules that are imported.
  const sqlite =
    process.versions["deno"] === undefined
      ? undefined
      : (process.getBuiltinModule?.("node:sqlite") as Sqlite | undefined);
  if (sqlite === undefined) {
    const reason =
      "is the path of a file of Deno KV, and only Deno can read its values; run the copy in Deno";
    throw new InvalidOptionError("from", reason, "copyKv");
  }
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
    throw new DatabasePathError(resolve(path), "there is no such file");
  const database = new sqlite.DatabaseSync(path, { readOnly: true });
  // A program that opens or closes the file locks it for a moment.
  database.exec(`PRAGMA busy_timeout = ${busyTimeout}`);
  return database;
}

function assertTables(database: Database, path: string): void {
  let version: unknown;
  try {
    ({ version } = database.prepare("SELECT version FROM migration_state").get() as {
      version: unknown;
    });
  } catch (error) {
    const { errcode } = error as { readonly errcode?: number };
    if (errcode !== noSuchTable && errcode !== notADatabase) throw error;
    throw new DatabaseFormatError("the file is not one of Deno KV", path);
  }
  if (version !== knownVersion) {
    const reason = `the tables of Deno KV have the version ${version}, and only ${knownVersion} is known`;
    throw new DatabaseFormatError(reason, path);
  }
}

/** The entries of a file, without those that have expired when it was opened. */
class DenoFileReads {
  readonly limits = { keys: entriesAtOnce };
  readonly #now = Date.now();
  readonly #get: Statement;
  readonly #list: Statement;

  constructor(database: Database) {
    const unexpired = "(expiration_ms = -1 OR expiration_ms > ?)";
    this.#get = database.prepare(`SELECT * FROM kv WHERE k = ? AND ${unexpired}`);
    this.#list = database.prepare(
      `SELECT * FROM kv WHERE k > ? AND ${unexpired} ORDER BY k LIMIT ${entriesAtOnce}`,
    );
    for (const statement of [this.#get, this.#list]) statement.setReadBigInts(true);
  }

  async get(key: KvKey): Promise<KvEntryMaybe<unknown>> {
    const row = this.#get.get(encodeEntryKey(key, denoOrder), this.#now) as EntryRow | undefined;
    return row === undefined ? { key, value: null, versionstamp: null } : entryOf(row);
  }

  async getMany(keys: readonly KvKey[]): Promise<KvEntryMaybe<unknown>[]> {
    return await Promise.all(keys.map((key) => this.get(key)));
  }

  async *list(): AsyncGenerator<KvEntry<unknown>> {
    for (let after = new Uint8Array(); ; ) {
      const rows = this.#list.all(after, this.#now) as EntryRow[];
      for (const row of rows) yield entryOf(row);
      if (rows.length < entriesAtOnce) return;
      after = rows.at(-1)!.k as Uint8Array<ArrayBuffer>;
    }
  }
}

function entryOf({ k, v, v_encoding, version, expiration_ms }: EntryRow): KvEntry<unknown> {
  const key = decodeKey(k, denoOrder);
  const versionstamp = `${version.toString(16).padStart(16, "0")}0000`;
  const expireAt = expiration_ms === -1n ? {} : { expireAt: Number(expiration_ms) };
  return { key, value: storedValue(key, v, Number(v_encoding)), versionstamp, ...expireAt };
}

function storedValue(key: KvKey, bytes: Uint8Array, encoding: number): unknown {
  switch (encoding) {
    case encodings.u64:
      return new KvU64(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
    case encodings.bytes:
      return bytes;
    case encodings.v8:
      return deserialized(key, bytes);
    default:
      throw new DatabaseFormatError(`a value of Deno KV has the unknown encoding ${encoding}`);
  }
}

/** @param key the key of the entry. A message has none. */
function deserialized(key: KvKey | undefined, bytes: Uint8Array): unknown {
  try {
    return deserialize(bytes);
  } catch (cause) {
    throw new CopyUnreadableError(key, cause);
  }
}

/** Returns the messages in the order in which they are due. */
function messagesOf(database: Database): QueuedMessage[] {
  const statement = (sql: string) => {
    const prepared = database.prepare(sql);
    prepared.setReadBigInts(true);
    return prepared.all() as MessageRow[];
  };
  const columns = "id, data, backoff_schedule, keys_if_undelivered";
  const rows = [
    // Handlers have these. If the program ends before they do, Deno KV delivers them again.
    ...statement(`SELECT 0 AS ts, ${columns} FROM queue_running ORDER BY deadline, id`),
    ...statement(`SELECT ts, ${columns} FROM queue ORDER BY ts, id`),
  ];
  return rows.map(({ ts, id, data, backoff_schedule, keys_if_undelivered }) => {
    const keys = JSON.parse(keys_if_undelivered) as number[][];
    return {
      id,
      dueAt: Number(ts),
      value: () => deserialized(undefined, data),
      bytes: keys.reduce((bytes, key) => bytes + key.length, data.length),
      backoffSchedule: JSON.parse(backoff_schedule) as number[],
      keysIfUndelivered: keys.map((bytes) => decodeKey(Uint8Array.from(bytes), denoOrder)),
    };
  });
}
