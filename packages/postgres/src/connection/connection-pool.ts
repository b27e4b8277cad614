import { DatabaseClosedError } from "@keywright/core";
import type pg from "pg";
import type { EngineSettings } from "../settings/engine-settings.js";
import { connect, end as endClient, keepAlive } from "./connect.js";

type Waiting = (client: pg.Client | undefined) => void;

/** All connections of the engine were in use until the deadline of a call. */
class PoolBusyError extends Error {
  readonly code = "POOL_BUSY";

  constructor(maxConnections: number) {
    super(`all ${maxConnections} connections were in use`);
  }
}

/** The connections of an engine. A call has one for itself until it releases it. */
export class ConnectionPool {
  readonly #settings: EngineSettings;
  readonly #idle: pg.Client[] = [];
  readonly #busy = new Set<pg.Client>();
  readonly #waiting: Waiting[] = [];
  readonly #closing = new AbortController();
  #connecting = 0;

  /** @param first an open connection. */
  constructor(settings: EngineSettings, first?: pg.Client) {
    this.#settings = settings;
    if (first === undefined) return;
    this.#adopt(first);
    this.#rest(first);
  }

  /**
   * Returns a free connection, or a new one if the maximum is not reached. Waits otherwise.
   *
   * @param time how long an attempt to connect may take for each host, in milliseconds.
   * @param end when the call gives up, on the clock of `performance.now()`.
   * @throws {DatabaseClosedError} after `close()`.
   * @throws {PoolBusyError} if no connection becomes free until the end.
   * @throws the error of the last host if no host can be used.
   */
  async acquire(time: number, end: number): Promise<pg.Client> {
    for (;;) {
      if (this.#closing.signal.aborted) throw new DatabaseClosedError();
      const idle = this.#idle.pop();
      if (idle !== undefined) return this.#use(idle);
      if (this.#busy.size + this.#connecting < this.#settings.maxConnections) {
        return this.#use(await this.#connect(time, end));
      }
      const released = await this.#released(end);
      if (released !== undefined) return this.#use(released);
    }
  }

  /** Takes a connection back. A connection that has failed is closed. */
  release(client: pg.Client, hasFailed: boolean): void {
    if (!this.#busy.delete(client)) return;
    if (hasFailed || this.#closing.signal.aborted) {
      endClient(client);
      // One that waits may connect in place of this connection.
      this.#waiting.shift()?.(undefined);
      return;
    }
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next(client);
      return;
    }
    this.#rest(client);
  }

  /**
   * Closes all connections, also those that are being opened. Calls that have not finished fail.
   */
  close(): void {
    this.#closing.abort();
    for (const client of [...this.#idle, ...this.#busy]) endClient(client);
    this.#idle.length = 0;
    this.#busy.clear();
    for (const resolve of this.#waiting.splice(0)) resolve(undefined);
  }

  /** Waits for a connection that is released. Resolves with undefined if one may be opened. */
  #released(end: number): Promise<pg.Client | undefined> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => {
          this.#waiting.splice(this.#waiting.indexOf(take), 1);
          reject(new PoolBusyError(this.#settings.maxConnections));
        },
        Math.max(0, end - performance.now()),
      );
      const take: Waiting = (client) => {
        clearTimeout(timer);
        resolve(client);
      };
      this.#waiting.push(take);
    });
  }

  async #connect(time: number, end: number): Promise<pg.Client> {
    this.#connecting++;
    try {
      const { signal } = this.#closing;
      const client = await connect(this.#settings, time, { closing: signal, end });
      this.#adopt(client);
      if (!signal.aborted) return client;
      endClient(client);
      throw new DatabaseClosedError();
    } catch (error) {
      this.#waiting.shift()?.(undefined);
      throw error;
    } finally {
      this.#connecting--;
    }
  }

  #use(client: pg.Client): pg.Client {
    keepAlive(client, true);
    this.#busy.add(client);
    return client;
  }

  #rest(client: pg.Client): void {
    // An idle connection does not keep the process alive.
    keepAlive(client, false);
    this.#idle.push(client);
  }

  /** Forgets the connection if it ends while it is idle. */
  #adopt(client: pg.Client): void {
    client.once("end", () => {
      const index = this.#idle.indexOf(client);
      if (index >= 0) this.#idle.splice(index, 1);
    });
  }
}
