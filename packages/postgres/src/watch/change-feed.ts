import type { Buffer } from "node:buffer";
import type { KeyRange, RangeListener } from "@keywright/core";
import { ChangeWatchers } from "@keywright/core/engine";
import type pg from "pg";
import type { Statement } from "../connection/caller.js";
import { connect, end, keepAlive } from "../connection/connect.js";
import { type Statements, sequenceOf } from "../connection/statements.js";
import type { EngineSettings } from "../settings/engine-settings.js";
import { channelOf } from "../sql/schema.js";
import { decodeLog } from "./decode-log.js";

/** Milliseconds after which the log is read even without a notification. */
const pollInterval = 5000;
/** Milliseconds between two attempts to connect again. */
const retryPause = 200;
/** The maximum number of batches that are read at once. */
const logSize = 500;

/**
 * Reports the commits of all processes to watches. It reads the changed keys of each batch from the
 * log in the table, after a notification and every few seconds. So a lost notification only delays
 * a report, and a lost connection continues where it ended.
 *
 * A watch begins at a batch that was already committed, so nothing has to wait for the connection.
 */
export class ChangeFeed {
  readonly #watchers = new ChangeWatchers();
  readonly #settings: EngineSettings;
  readonly #statements: Statements;
  #client: pg.Client | undefined;
  /** The number of the last batch that is known to be committed. */
  #known: number;
  /** The number of the last batch that was reported. */
  #cursor: number;
  #running: Promise<void> | undefined;
  #isRunning = false;
  #wake: () => void = () => undefined;
  #isDue = false;
  readonly #closing = new AbortController();

  /** @param known the number of a batch that is committed. */
  constructor(settings: EngineSettings, statements: Statements, known: number) {
    this.#settings = settings;
    this.#statements = statements;
    this.#known = known;
    this.#cursor = known;
  }

  /** Notes that this batch is committed, so that later watches do not report it. */
  noteCommitted(sequence: number): void {
    this.#known = Math.max(this.#known, sequence);
  }

  watch(keys: readonly Uint8Array[], onChange: () => void): () => void {
    const stop = this.#watchers.watch(keys, onChange);
    this.#start();
    return stop;
  }

  watchRanges(ranges: readonly KeyRange[], onChange: RangeListener): () => void {
    const stop = this.#watchers.watchRanges(ranges, onChange);
    this.#start();
    return stop;
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#client !== undefined) end(this.#client);
    this.#wakeUp();
    await this.#running;
  }

  #start(): void {
    if (this.#isRunning || this.#isClosed) return;
    this.#isRunning = true;
    this.#cursor = this.#known;
    this.#running = this.#run();
  }

  /** Reports until nothing is watched. Never rejects: it connects again after each failure. */
  async #run(): Promise<void> {
    while (!this.#isClosed && !this.#watchers.isEmpty) {
      try {
        await this.#listen();
        await this.#report();
      } catch {
        if (this.#client !== undefined) end(this.#client);
        this.#client = undefined;
        await this.#pause(retryPause);
      }
    }
    this.#isRunning = false;
  }

  async #listen(): Promise<void> {
    if (this.#client !== undefined) return;
    const time = this.#settings.deadline / 2;
    const client = await connect(this.#settings, time, { closing: this.#closing.signal });
    if (this.#isClosed) {
      end(client);
      return;
    }
    keepAlive(client, false);
    client.on("notification", () => this.#wakeUp());
    client.on("end", () => {
      if (this.#client === client) this.#client = undefined;
      this.#wakeUp();
    });
    this.#client = client;
    await client.query(`LISTEN ${channelOf(this.#settings.prefix)}`);
  }

  async #head(): Promise<number> {
    const [row] = await this.#query(this.#statements.head());
    return sequenceOf(row![1] as Buffer);
  }

  async #report(): Promise<void> {
    await this.#skipMany();
    while (!this.#isClosed && !this.#watchers.isEmpty) {
      this.#isDue = false;
      const rows = await this.#query(this.#statements.log(this.#cursor, logSize));
      for (const [key, value] of rows) this.#reportBatch(key as Buffer, value as Buffer);
      if (rows.length === 0) await this.#verifyHead();
      if (rows.length < logSize) await this.#pause(pollInterval);
    }
  }

  /**
   * Does not read what was committed before a watch, or while it was disconnected, if it is much.
   */
  async #skipMany(): Promise<void> {
    const head = await this.#head();
    if (head - this.#cursor > logSize) this.#skipTo(head);
  }

  #skipTo(head: number): void {
    this.#cursor = head;
    this.#known = head;
    this.#watchers.notifyUnknown();
  }

  #reportBatch(key: Buffer, value: Buffer): void {
    const sequence = Number(key.readBigUInt64BE(2));
    const isNext = sequence === this.#cursor + 1;
    this.#cursor = sequence;
    this.noteCommitted(sequence);
    // Batches between them were removed from the log, because nobody read them for long.
    if (isNext) this.#watchers.notify(decodeLog(value));
    else this.#watchers.notifyUnknown();
  }

  /** Detects that the server has fewer or more batches than were reported and are in the log. */
  async #verifyHead(): Promise<void> {
    const cursor = this.#cursor;
    const head = await this.#head();
    if (head === cursor) return;
    const rows = await this.#query(this.#statements.log(cursor, 1));
    if (rows.length > 0) {
      this.#isDue = true;
      return;
    }
    this.#skipTo(head);
  }

  async #query(statement: Statement): Promise<unknown[][]> {
    const query = { ...statement, values: [...statement.values], rowMode: "array" as const };
    if (this.#client === undefined) throw new Error("the connection has ended");
    const { rows } = await this.#client.query(query);
    return rows;
  }

  #wakeUp(): void {
    this.#isDue = true;
    this.#wake();
  }

  /** Resolves after a time, or earlier if something is to be read. */
  async #pause(time: number): Promise<void> {
    if (this.#isDue || this.#isClosed) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, time);
      timer.unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
