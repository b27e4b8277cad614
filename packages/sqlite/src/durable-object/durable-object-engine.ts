import {
  type AtomicWrite,
  DatabaseClosedError,
  DatabaseFormatError,
  type Engine,
  type EngineLimits,
  type KeyRange,
  type RangeListener,
  type RangeRead,
  type StoredEntry,
  type WriteOutcome,
} from "@keywright/core";
import {
  ChangeWatchers,
  CheckedVersions,
  ExpiryClock,
  RecentCommits,
  type RecordMutation,
  recordOf,
  WriteGroup,
} from "@keywright/core/engine";
import { GroupWriter } from "../commit/write-group.js";
import { unknownKeys } from "../file/changed-keys.js";
import { emptyHead, encodeHead, type Head, versionstampOf } from "../file/head.js";
import { createTables } from "../file/tables.js";
import { ObjectStatements, type ObjectStorage } from "./object-storage.js";

/** No other process has to learn which keys a commit has changed. */
const noKeys = { counted: [], others: [] };

/**
 * Opens the database in the storage of a Durable Object of Cloudflare, for `openKv`. The class of
 * the object must have SQLite storage (`new_sqlite_classes`). The database is in the tables
 * `entries` and `commits`, which the object must not use for anything else.
 *
 * ```ts
 * export class Store extends DurableObject {
 *   #kv = openKv(durableObjectEngine(this.ctx.storage));
 *
 *   async visit(): Promise<bigint> {
 *     const kv = await this.#kv;
 *     await kv.atomic().sum(["visits"], 1n).commit();
 *     return (await kv.get<KvU64>(["visits"])).value!.value;
 *   }
 * }
 * ```
 *
 * @throws {DatabaseFormatError} if the object has other tables of these names.
 * @throws {CorruptionError} if the record of the last commit is damaged.
 */
export function durableObjectEngine(storage: ObjectStorage): Engine {
  const statements = new ObjectStatements(storage);
  storage.transactionSync(() => createMissingTables(statements));
  return new DurableObjectEngine(storage, statements);
}

class DurableObjectEngine implements Engine {
  readonly commitsAtOnce = true;
  /** An entry is a row, whose key and record have at most 2 MB. */
  readonly limits: EngineLimits = { keyBytes: 64 * 1024, valueBytes: 1_900_000 };
  readonly #storage: ObjectStorage;
  readonly #statements: ObjectStatements;
  readonly #writer: GroupWriter;
  readonly #watchers = new ChangeWatchers();
  readonly #clock = new ExpiryClock();
  readonly #versions = new CheckedVersions();
  readonly #noCommits = new NoCommits("");
  #head: Head;
  #isClosed = false;

  constructor(storage: ObjectStorage, statements: ObjectStatements) {
    this.#storage = storage;
    this.#statements = statements;
    this.#writer = new GroupWriter(statements);
    this.#head = statements.reading(() => statements.head());
  }

  get lastVersionstamp(): string | undefined {
    return this.#isClosed ? undefined : versionstampOf(this.#head);
  }

  get(key: Uint8Array): StoredEntry | undefined {
    this.#assertOpen();
    return this.#statements.get(key, this.#clock.now());
  }

  getMany(keys: readonly Uint8Array[]): (StoredEntry | undefined)[] {
    this.#assertOpen();
    return this.#statements.getMany(keys, this.#clock.now());
  }

  async getRange(read: RangeRead): Promise<StoredEntry[]> {
    this.#assertOpen();
    return this.#statements.getRange(read, this.#clock.now());
  }

  async getRanges(reads: readonly RangeRead[]): Promise<StoredEntry[][]> {
    this.#assertOpen();
    const now = this.#clock.now();
    return reads.map((read) => this.#statements.getRange(read, now, Number.POSITIVE_INFINITY));
  }

  async commit(writes: readonly AtomicWrite[]): Promise<WriteOutcome[]> {
    this.#assertOpen();
    let mutations: readonly RecordMutation[] = [];
    const outcomes = this.#storage.transactionSync(() => {
      const group = new WriteGroup({
        sequence: this.#head.sequence + 1,
        now: this.#clock.stop(),
        read: (key) => this.#statements.entry(key),
        recordOf,
        versions: this.#versions,
        recent: this.#noCommits,
        copiesWrites: true,
      });
      try {
        const all = writes.map((write) => group.apply(write));
        if (group.last !== undefined) {
          mutations = group.mutations;
          const order = Number.parseInt(group.last.slice(16), 16);
          this.#head = this.#writer.write(this.#head, order, mutations, noKeys);
        }
        return all;
      } finally {
        this.#clock.resume();
      }
    });
    // Also without this call, the runtime sends no answer of the object before its writes are safe.
    if (writes.some(({ sync }) => sync)) await this.#storage.sync();
    this.#watchers.notify(mutations);
    return outcomes;
  }

  watch(keys: readonly Uint8Array[], onChange: () => void): () => void {
    return this.#watchers.watch(keys, onChange);
  }

  watchRanges(ranges: readonly KeyRange[], onChange: RangeListener): () => void {
    return this.#watchers.watchRanges(ranges, onChange);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new DatabaseClosedError();
  }
}

/** The storage has no snapshots, so no view has a versionstamp that range checks could use. */
class NoCommits extends RecentCommits {
  override add(): void {}
}

function createMissingTables(statements: ObjectStatements): void {
  const found = new Map(
    statements
      .prepare("SELECT name, sql FROM sqlite_master WHERE name IN ('entries', 'commits')")
      .all()
      .map(([name, sql]) => [name, sql]),
  );
  if (found.size > 0) {
    const stored = new Set(found.values());
    if (createTables.every((sql) => stored.has(sql))) return;
    throw new DatabaseFormatError("the object has other tables named entries or commits");
  }
  for (const sql of createTables) statements.run(sql);
  const { sequence } = emptyHead;
  statements.run(
    "INSERT INTO commits VALUES (?, ?, ?)",
    sequence,
    encodeHead(emptyHead),
    unknownKeys,
  );
}
