import { setTimeout as sleep } from "node:timers/promises";
import { AmbiguousCommitError, DatabaseClosedError } from "@keywright/core";
import type pg from "pg";
import { isAnswer, refusalOf, unavailable } from "../errors/refusal-of.js";
import type { EngineSettings } from "../settings/engine-settings.js";
import { ConnectionPool } from "./connection-pool.js";

/** A statement that each connection prepares once, and its parameters. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * Milliseconds before the second attempt. Each further pause is twice as long, up to the maximum.
 */
const firstPause = 20;
const maxPause = 500;
/** Milliseconds that must be left until the deadline for another attempt. */
export const shortestAttempt = 20;

/** Answers with which a server says that it may accept the same statement later. */
const transient = /^(40|53|55P03|57|25006)/;

export interface HeldConnection {
  readonly client: pg.Client;
  /** The rows of each statement that began the transaction. */
  readonly results: readonly unknown[][][];
  /** @param hasFailed true if the connection cannot be used again. */
  release(hasFailed: boolean): void;
}

/** Sends statements to the server, and repeats them if it does not answer. */
export class Caller {
  readonly #pool: ConnectionPool;
  readonly #deadline: number;
  #isClosed = false;

  /** @param first an open connection, which is closed with the others. */
  constructor(settings: EngineSettings, first?: pg.Client) {
    this.#pool = new ConnectionPool(settings, first);
    this.#deadline = settings.deadline;
  }

  /**
   * Returns the rows of a statement that may be repeated.
   *
   * @throws {EngineUnavailableError} if no server answers until the deadline.
   * @throws {PostgresRefusedError} if the server refuses.
   */
  async read(statement: Statement): Promise<unknown[][]> {
    return await this.#call((client, time) => this.#send(client, statement, time), unavailable);
  }

  /**
   * Returns the rows of a statement that applies a batch with an id. It can be repeated, because
   * the server applies the id only once.
   *
   * @throws {AmbiguousCommitError} if the statement was sent and no server answers until the
   * deadline.
   * @throws {EngineUnavailableError} if the statement was not sent, or was not applied.
   * @throws {PostgresRefusedError} if the server refuses.
   */
  async write(statement: Statement): Promise<unknown[][]> {
    return await this.#call(
      (client, time) => this.#send(client, statement, time),
      (error, wasSent, waited) =>
        wasSent ? new AmbiguousCommitError(waited, error) : unavailable(error),
    );
  }

  /**
   * Takes a connection, and begins a transaction on it.
   *
   * @param begin the statements that begin it.
   * @throws {EngineUnavailableError} if no server answers, or no connection is free, until the
   * deadline.
   * @throws {PostgresRefusedError} if the server refuses.
   */
  async begin(begin: string): Promise<HeldConnection> {
    return await this.#call(async (client, time) => {
      try {
        // Several statements have several results, which the types do not know.
        const query = { text: begin, rowMode: "array" as const, query_timeout: time };
        const results = (await client.query(query)) as unknown as pg.QueryArrayResult<unknown[]>[];
        const release = (hasFailed: boolean) => this.#pool.release(client, hasFailed);
        return { client, results: results.map(({ rows }) => rows), release };
      } catch (error) {
        this.#pool.release(client, true);
        throw error;
      }
    }, unavailable);
  }

  close(): void {
    this.#isClosed = true;
    this.#pool.close();
  }

  /** @param send uses a connection, and releases it. */
  async #call<T>(
    send: (client: pg.Client, time: number) => Promise<T>,
    failure: (error: unknown, wasSent: boolean, waited: number) => Error,
  ): Promise<T> {
    const start = performance.now();
    const end = start + this.#deadline;
    const waited = () => Math.round(performance.now() - start);
    // An attempt gets half of the time, so that a server that hangs leaves time for another.
    const attemptEnd = () => Math.min(end, performance.now() + this.#deadline / 2);
    // True if an attempt has been sent whose end is not known.
    let wasSent = false;
    // The last answer says more than an attempt after it that the deadline has cut short.
    let answer: unknown;
    for (let pause = firstPause; ; pause = Math.min(pause * 2, maxPause)) {
      let client: pg.Client | undefined;
      try {
        client = await this.#pool.acquire(this.#deadline / 2, end);
        return await send(client, Math.max(1, attemptEnd() - performance.now()));
      } catch (error) {
        if (this.#isClosed || error instanceof DatabaseClosedError) {
          throw wasSent || client !== undefined
            ? failure(error, true, waited())
            : new DatabaseClosedError();
        }
        if (client !== undefined && !isAnswer(error)) wasSent = true;
        const { code = "" } = error as { code?: string };
        const refusal = refusalOf(error);
        // After a lost answer, a refusal does not tell the outcome of the first attempt.
        if (!wasSent && refusal !== undefined) throw refusal;
        if (isAnswer(error) && !wasSent && !transient.test(code)) throw error;
        if (isAnswer(error)) answer = error;
        if (end - performance.now() < shortestAttempt)
          throw failure(wasSent ? error : (answer ?? error), wasSent, waited());
      }
      // The last pauses are shorter, so that the attempts continue until the deadline.
      await sleep(Math.min(pause, (end - performance.now()) / 2));
    }
  }

  async #send(client: pg.Client, statement: Statement, time: number): Promise<unknown[][]> {
    let hasFailed = true;
    try {
      const query = { ...statement, values: [...statement.values], rowMode: "array" as const };
      const { rows } = await client.query({ ...query, query_timeout: time } as typeof query);
      hasFailed = false;
      return rows;
    } catch (error) {
      // The session continues after an ordinary error. A server that became read-only is left.
      hasFailed = !isAnswer(error) || (error as { code?: string }).code === "25006";
      throw error;
    } finally {
      this.#pool.release(client, hasFailed);
    }
  }
}
