import type { Buffer } from "node:buffer";
import { type RangeRead, ReadViewEndedError, type StoredEntry } from "@keywright/core";
import type { ViewReads } from "@keywright/core/engine";
import { textOf } from "../commit/text-of.js";
import type { Caller, HeldConnection, Statement } from "./caller.js";
import { entryOf, type Statements } from "./statements.js";

/**
 * The reads of one state of the table, in a transaction on a connection of its own. It begins with
 * `begin()`, or in the same request as the first read.
 */
export class ViewTransaction implements ViewReads {
  readonly #caller: Caller;
  readonly #deadline: number;
  readonly #onBegin: (versionstamp: string) => void;
  #statements: Statements;
  #held: HeldConnection | undefined;
  /** The last statement. A connection has one at a time. */
  #last: Promise<unknown> = Promise.resolve();
  #failure: ReadViewEndedError | undefined;

  /** @param onBegin called with the last versionstamp of the state. */
  constructor(
    caller: Caller,
    statements: Statements,
    deadline: number,
    onBegin: (versionstamp: string) => void,
  ) {
    this.#caller = caller;
    this.#statements = statements;
    this.#deadline = deadline;
    this.#onBegin = onBegin;
  }

  async begin(): Promise<void> {
    await this.#inTurn(() => this.#begin());
  }

  async get(key: Uint8Array): Promise<StoredEntry | undefined> {
    const [row] = await this.#read((statements) => statements.get(key));
    return row && entryOf(row);
  }

  async getMany(keys: readonly Uint8Array[]): Promise<(StoredEntry | undefined)[]> {
    if (keys.length === 0) return [];
    const rows = await this.#read((statements) => statements.getMany(keys));
    const found = new Map(rows.map((row) => [textOf(row[0] as Buffer), entryOf(row)]));
    return keys.map((key) => found.get(textOf(key)));
  }

  async getRange(read: RangeRead): Promise<StoredEntry[]> {
    return (await this.#read((statements) => statements.getRange(read))).map(entryOf);
  }

  /** Ends the transaction after the reads that have begun. */
  end(): void {
    const ending = this.#inTurn(async () => {
      if (this.#failure !== undefined || this.#held === undefined) return;
      await this.#held.client.query("COMMIT");
      this.#held.release(false);
    });
    ending.catch(() => this.#held?.release(true));
  }

  /** Begins the transaction. Returns the rows of its first read, if there is one. */
  async #begin(first?: Statement): Promise<unknown[][]> {
    this.#held = await this.#caller.begin(this.#statements.begin(first));
    const results = this.#held.results.filter(({ length }) => length > 0);
    const [[now, version]] = results[0] as [[string, Buffer]];
    this.#statements = this.#statements.at(Number(now));
    this.#onBegin(version.toString("hex"));
    return results[1] ?? [];
  }

  #read(statementFrom: (statements: Statements) => Statement): Promise<unknown[][]> {
    return this.#inTurn(async () => {
      if (this.#failure !== undefined) throw this.#failure;
      const { name, text, values } = statementFrom(this.#statements);
      if (this.#held === undefined) return await this.#begin({ name, text, values });
      const query = { name, text, values: [...values], rowMode: "array" as const };
      try {
        const timed = { ...query, query_timeout: this.#deadline } as typeof query;
        return (await this.#held.client.query(timed)).rows;
      } catch (error) {
        // After any error, the transaction refuses all statements.
        this.#failure = new ReadViewEndedError(
          "the server has ended its transaction, or the connection was lost",
          error,
        );
        this.#held.release(true);
        throw this.#failure;
      }
    });
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#last.then(step);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
