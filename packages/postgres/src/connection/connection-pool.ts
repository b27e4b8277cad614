import { DatabaseClosedError } from "@keywright/core";
import type pg from "pg";
import type { EngineSettings } from "../settings/engine-settings.js";
import { connect, end, keepAlive } from "./connect.js";

type Waiting = (client: pg.Client | undefined) => void;

/** The connections of an engine. A call has one for itself until it releases it. */
export class ConnectionPool {
  readonly #settings: EngineSettings;
  readonly #idle: pg.Client[] = [];
  readonly #busy = new Set<pg.Client>();
  readonly #waiting: Waiting[] = [];
  readonly #closing = new AbortController();
  #connecting = 0;

  /** @param first an open connection. */
  constructor(settings: EngineSettings, first: pg.Client) {
    this.#settings = settings;
    this.#adopt(first);
    this.#rest(first);
  }

  /**
   * Returns a free connection, or a new one if the maximum is not reached. Waits otherwise.
   *
   * @param time how long an attempt to connect may take for each host, in milliseconds.
   * @throws {DatabaseClosedError} after `close()`.
   * @throws the error of the last host if no host can be used.
   */
  async acquire(time: number): Promise<pg.Client> {
    for (;;) {
      if (this.#closing.signal.aborted) throw new DatabaseClosedError();
      const idle = this.#idle.pop();
      if (idle !== undefined) return this.#use(idle);
      if (this.#busy.size + this.#connecting < this.#settings.maxConnections) {
        return this.#use(await this.#connect(time));
      }
      const released = await new Promise<pg.Client | undefined>((resolve) => {
        this.#waiting.push(resolve);
      });
      if (released !== undefined) return this.#use(released);
    }
  }

  /** Takes a connection back. A connection that has failed is closed. */
  release(client: pg.Client, hasFailed: boolean): void {
    if (!this.#busy.delete(client)) return;
    if (hasFailed || this.#closing.signal.aborted) {
      end(client);
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

  /** Closes all connections, also those that are being opened. Calls that have not finished fail. */
  close(): void {
    this.#closing.abort();
    for (const client of [...this.#idle, ...this.#busy]) end(client);
    this.#idle.length = 0;
    this.#busy.clear();
    for (const resolve of this.#waiting.splice(0)) resolve(undefined);
  }

  async #connect(time: number): Promise<pg.Client> {
    this.#connecting++;
    try {
      const { signal } = this.#closing;
      const client = await connect(this.#settings, time, signal);
      this.#adopt(client);
      if (!signal.aborted) return client;
      end(client);
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
