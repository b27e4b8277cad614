import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type AtomicWrite,
  type Engine,
  type EngineLimits,
  isKeywrightError,
  type KeyRange,
  type MaybePromise,
  type OpenViewOptions,
  type RangeListener,
  type RangeRead,
  type ReadView,
  type StoredEntry,
  type WriteOutcome,
} from "@keywright/core";
import { OpenViews } from "@keywright/core/engine";
import type pg from "pg";
import { decodeOutcomes } from "./commit/decode-outcomes.js";
import { type EncodedBatch, encodeBatch } from "./commit/encode-batch.js";
import { Caller, shortestAttempt } from "./connection/caller.js";
import { connect, end } from "./connection/connect.js";
import { KeyReader } from "./connection/key-reader.js";
import { entryOf, Statements, sequenceOf } from "./connection/statements.js";
import { ViewTransaction } from "./connection/view-transaction.js";
import { isAnswer, refusalOf, unavailable } from "./errors/refusal-of.js";
import {
  type EngineSettings,
  type PostgresOptions,
  settingsOf,
} from "./settings/engine-settings.js";
import { prepareTable } from "./sql/prepare-table.js";
import { ChangeFeed } from "./watch/change-feed.js";

const idBytes = 16;
/** Milliseconds between two attempts to open. */
const openingPause = 100;
const mebibyte = 1024 * 1024;

/**
 * Opens an engine on a PostgreSQL database, for `openKv`. Creates its table and its function if
 * they do not exist. `kv.close()` closes all connections.
 *
 * ```ts
 * const kv = await openKv(await postgresEngine({ connectionString: "postgres://localhost/app" }));
 * ```
 *
 * @throws {PostgresOptionError} if an option is not valid.
 * @throws {EngineUnavailableError} if no host accepts connections and writes until the deadline.
 * @throws {PostgresRefusedError} if the server refuses, for example because of a wrong password.
 * @throws {DatabaseNotFoundError} if the table does not exist and may not be created.
 * @throws {DatabaseFormatError} if there is a table of this name with another content.
 */
export async function postgresEngine(options: PostgresOptions): Promise<Engine> {
  const settings = settingsOf(options);
  const statements = new Statements(settings.prefix);
  return new PostgresEngine(settings, statements, await prepare(settings, statements));
}

/** A connection to a server that has the table and the function. */
interface Prepared {
  readonly client: pg.Client;
  /** The number of the last batch that was committed. */
  readonly known: number;
}

async function prepare(settings: EngineSettings, statements: Statements): Promise<Prepared> {
  const until = performance.now() + settings.deadline;
  // The last answer says more than an attempt after it that the deadline has cut short.
  let answer: unknown;
  for (;;) {
    try {
      const client = await connect(settings, settings.deadline / 2, { end: until });
      try {
        await prepareTable(client, settings);
        const { text, values } = statements.head();
        const { rows } = await client.query(text, [...values]);
        return { client, known: sequenceOf(rows[0].version) };
      } catch (error) {
        end(client);
        throw error;
      }
    } catch (error) {
      if (isKeywrightError(error)) throw error;
      const refusal = refusalOf(error);
      if (refusal !== undefined) throw refusal;
      if (isAnswer(error)) answer = error;
      const left = until - performance.now();
      if (left < shortestAttempt) throw unavailable(answer ?? error);
      await sleep(Math.min(openingPause, left / 2));
    }
  }
}

class PostgresEngine implements Engine {
  readonly isShared = true;
  readonly checksRanges = true;
  readonly limits: EngineLimits = {
    // The primary key's index holds at most 2,704 bytes for each row.
    keyBytes: 2600,
    valueBytes: 32 * mebibyte,
    totalMutationBytes: 64 * mebibyte,
  };
  readonly #settings: EngineSettings;
  readonly #caller: Caller;
  /** Views have connections of their own, so that commits never wait for them. */
  readonly #viewCaller: Caller;
  readonly #views = new OpenViews();
  readonly #statements: Statements;
  readonly #reader: KeyReader;
  readonly #feed: ChangeFeed;

  constructor(settings: EngineSettings, statements: Statements, { client, known }: Prepared) {
    this.#settings = settings;
    this.#caller = new Caller(settings, client);
    this.#viewCaller = new Caller(settings);
    this.#statements = statements;
    this.#reader = new KeyReader(this.#caller, statements);
    this.#feed = new ChangeFeed(settings, statements, known);
  }

  get(key: Uint8Array): Promise<StoredEntry | undefined> {
    return this.#reader.get(key);
  }

  getMany(keys: readonly Uint8Array[]): Promise<(StoredEntry | undefined)[]> {
    return this.#reader.getMany(keys);
  }

  async getRange(read: RangeRead): Promise<StoredEntry[]> {
    return (await this.#caller.read(this.#statements.getRange(read))).map(entryOf);
  }

  openView({ atFirstRead = false }: OpenViewOptions = {}): MaybePromise<ReadView> {
    this.#views.assertOpen();
    const { deadline } = this.#settings;
    const onBegin = (versionstamp: string) => {
      view.versionstamp = versionstamp;
    };
    const reads = new ViewTransaction(this.#viewCaller, this.#statements, deadline, onBegin);
    const view = this.#views.open(reads, () => reads.end());
    return atFirstRead ? view : this.#begun(view, reads);
  }

  async commit(writes: readonly AtomicWrite[]): Promise<WriteOutcome[]> {
    const outcomes: WriteOutcome[] = [];
    while (outcomes.length < writes.length) {
      const rest = outcomes.length === 0 ? writes : writes.slice(outcomes.length);
      outcomes.push(...(await this.#commitBatch(encodeBatch(rest))));
    }
    return outcomes;
  }

  watch(keys: readonly Uint8Array[], onChange: () => void): () => void {
    return this.#feed.watch(keys, onChange);
  }

  watchRanges(ranges: readonly KeyRange[], onChange: RangeListener): () => void {
    return this.#feed.watchRanges(ranges, onChange);
  }

  async close(): Promise<void> {
    this.#views.close();
    this.#viewCaller.close();
    this.#caller.close();
    await this.#feed.close();
  }

  async #begun(view: ReadView, reads: ViewTransaction): Promise<ReadView> {
    try {
      await reads.begin();
      return view;
    } catch (error) {
      view.close();
      throw error;
    }
  }

  async #commitBatch(batch: EncodedBatch): Promise<WriteOutcome[]> {
    const statement = this.#statements.commit(randomBytes(idBytes), batch);
    try {
      const [row] = await this.#caller.write(statement);
      const outcomes = decodeOutcomes(row![0] as string, batch);
      const applied = outcomes.find((outcome) => typeof outcome === "string");
      if (applied !== undefined) this.#feed.noteCommitted(sequenceOf(Buffer.from(applied, "hex")));
      return outcomes;
    } catch (error) {
      // The engine itself has not failed, so the database accepts further commits.
      return Array.from({ length: batch.size }, () => error as Error);
    }
  }
}
