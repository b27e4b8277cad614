import type { Buffer } from "node:buffer";
import { type RangeRead, ReadViewEndedError, type StoredEntry } from "@keywright/core";
import type { ViewReads } from "@keywright/core/engine";
import { textOf } from "../commit/text-of.js";
import type { Caller, HeldConnection, Statement } from "./caller.js";
import { entryOf, type Statements } from "./statements.js";

/** The reads of one state of the table, in a transaction on a connection of its own. */
export class ViewTransaction implements ViewReads {
  readonly #held: HeldConnection;
  readonly #statements: Statements;
  readonly #deadline: number;
  /** The last statement. A connection has one at a time. */
  #last: Promise<unknown> = Promise.resolve();
  #failure: ReadViewEndedError | undefined;

  static async begin(
    caller: Caller,
    statements: Statements,
    deadline: number,
  ): Promise<ViewTransaction> {
    const held = await caller.begin(statements.begin());
    const { now } = held.rows[0] as { now: string };
    return new ViewTransaction(held, statements.at(Number(now)), deadline);
  }

  private constructor(held: HeldConnection, statements: Statements, deadline: number) {
    this.#held = held;
    this.#statements = statements;
    this.#deadline = deadline;
  }

  async get(key: Uint8Array): Promise<StoredEntry | undefined> {
    const [row] = await this.#read(this.#statements.get(key));
    return row && entryOf(row);
  }

  async getMany(keys: readonly Uint8Array[]): Promise<(StoredEntry | undefined)[]> {
    if (keys.length === 0) return [];
    const rows = await this.#read(this.#statements.getMany(keys));
    const found = new Map(rows.map((row) => [textOf(row[0] as Buffer), entryOf(row)]));
    return keys.map((key) => found.get(textOf(key)));
  }

  async getRange(read: RangeRead): Promise<StoredEntry[]> {
    return (await this.#read(this.#statements.getRange(read))).map(entryOf);
  }

  /** Ends the transaction after the reads that have begun. */
  end(): void {
    const ending = this.#inTurn(async () => {
      if (this.#failure !== undefined) return;
      await this.#held.client.query("COMMIT");
      this.#held.release(false);
    });
    ending.catch(() => this.#held.release(true));
  }

  #read({ name, text, values }: Statement): Promise<unknown[][]> {
    return this.#inTurn(async () => {
      if (this.#failure !== undefined) throw this.#failure;
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
