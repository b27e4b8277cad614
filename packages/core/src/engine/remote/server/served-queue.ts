import type { QueueListener } from "../../engine.js";
import { malformed } from "../messages.js";
import { RemoteHandlerError } from "../remote-handler-error.js";
import type { ServedDatabase } from "./served-database.js";

/** What a client is told about its listeners. */
export interface QueueReports {
  /** Sends a message, under its number, to a listener of the client. */
  message(listener: number, delivery: number, value: Uint8Array): void;
  /** @param error undefined if the client or the database has ended the listener. */
  ended(listener: number, error: unknown): void;
}

/** The listeners of one client to the queue, and the messages that its handlers have. */
export class ServedQueue {
  readonly #database: ServedDatabase;
  readonly #reports: QueueReports;
  readonly #listeners = new Map<number, QueueListener>();
  /** The messages that handlers of the client have, by their number. */
  readonly #deliveries = new Map<number, (isTaken: boolean) => void>();
  #nextDelivery = 1;
  #hasEnded = false;

  constructor(database: ServedDatabase, reports: QueueReports) {
    this.#database = database;
    this.#reports = reports;
  }

  listen(id: number, sync: boolean): void {
    if (this.#listeners.has(id)) throw malformed();
    const listener = this.#database.listen((value) => this.#deliver(id, value), sync);
    this.#listeners.set(id, listener);
    listener.done.then(
      () => this.#reports.ended(id, undefined),
      (error) => this.#reports.ended(id, error),
    );
  }

  /** Resolves when the handlers of the listener have ended. */
  async unlisten(id: number): Promise<void> {
    const listener = this.#listeners.get(id);
    listener?.end();
    await listener?.done.catch(() => undefined);
    this.#listeners.delete(id);
  }

  /** Ends a delivery. If the client has not taken the message, it is delivered again. */
  delivered(delivery: number, isTaken: boolean): void {
    this.#deliveries.get(delivery)?.(isTaken);
  }

  end(): void {
    this.#hasEnded = true;
    for (const listener of this.#listeners.values()) listener.end();
    for (const settle of [...this.#deliveries.values()]) settle(false);
  }

  /** Resolves when the client's handler has taken the message. */
  #deliver(listener: number, value: Uint8Array): Promise<void> {
    if (this.#hasEnded) return Promise.reject(new RemoteHandlerError());
    const delivery = this.#nextDelivery++;
    return new Promise((resolve, reject) => {
      this.#deliveries.set(delivery, (isTaken) => {
        this.#deliveries.delete(delivery);
        if (isTaken) resolve();
        else reject(new RemoteHandlerError());
      });
      this.#reports.message(listener, delivery, value);
    });
  }
}
