import { textOfBytes } from "../../bytes/text-of-bytes.js";
import type { AtomicWrite, Engine, StoredMutation } from "../../engine/engine.js";
import { DatabaseClosedError } from "../../errors/core-errors.js";
import { Alarm } from "./alarm.js";
import { isMessageKey, messageKeys } from "./message-key.js";
import {
  beginDelivery,
  completeDelivery,
  failDelivery,
  type StoredMessage,
  withdrawDelivery,
} from "./message-life.js";
import { MessageReader, type ReadyMessage } from "./message-reader.js";
import {
  type ActiveListener,
  type MessageHandler,
  type QueueListener,
  QueueListeners,
} from "./queue-listeners.js";
import { reportError } from "./report-error.js";

/** So many messages are with handlers at a time, as in Deno KV. */
const maxInFlight = 100;

/**
 * Delivers the stored messages of a database to those who listen in this process, each at least once. A message stays
 * stored until a handler has taken it or its last delivery has failed. The whole of it is told in
 * `docs/internals/queue.md`.
 */
export class MessageQueue {
  readonly #commit: (write: AtomicWrite) => Promise<string | null>;
  readonly #reader: MessageReader;
  readonly #listeners = new QueueListeners();
  readonly #alarm = new Alarm(() => this.#dequeue());
  /** The messages that handlers have or are about to get, by the texts of their keys. */
  readonly #inFlight = new Map<string, StoredMessage>();
  /** The ends of deliveries that are being written. */
  readonly #finishing = new Set<Promise<void>>();
  /** There may be a message that is due, and that the last batch did not have. */
  #isDue = false;
  #dequeuing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(engine: Engine, commit: (write: AtomicWrite) => Promise<string | null>) {
    this.#commit = commit;
    this.#reader = new MessageReader(engine);
  }

  /**
   * To be called after a commit that stored messages; the queue's own commits may be among them.
   *
   * @param key that of one of them: what stands before it is not read again. Without it the queue is read from its
   * beginning.
   */
  wake(key: Uint8Array = messageKeys.start): void {
    if (this.#inFlight.has(textOfBytes(key))) return;
    this.#reader.expect(key);
    this.#dequeue();
  }

  /**
   * Has messages delivered to a handler, in turn with the other listeners. The process stays alive until it is stopped.
   *
   * @param sync whether the end of a delivery must have survived a power cut before it counts.
   * @throws {DatabaseClosedError} after `close()`.
   */
  listen(handler: MessageHandler, sync: boolean): QueueListener {
    if (this.#closing !== undefined) throw new DatabaseClosedError();
    let stop: () => void = () => undefined;
    const done = new Promise<void>((resolve, reject) => {
      const listener = { handler, sync, resolve, reject };
      this.#listeners.add(listener);
      stop = () => this.#stop(listener);
    });
    this.#dequeue();
    return { done, stop };
  }

  /**
   * Stops all listeners. Resolves when nothing more is written by the queue, without waiting for handlers: what they
   * are at work on is delivered again when the database is opened again.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const listeners = this.#listeners.removeAll();
    this.#alarm.clear();
    await this.#dequeuing;
    await Promise.all(this.#finishing);
    // Where it fails, the deliveries will count as failed.
    await this.#withdraw([...this.#inFlight.values()]).catch(() => undefined);
    for (const listener of listeners) listener.resolve();
  }

  #stop(listener: ActiveListener): void {
    this.#listeners.remove(listener);
    if (this.#listeners.isEmpty) this.#alarm.clear();
    void Promise.all(this.#finishing).then(() => listener.resolve());
  }

  /** Stops all listeners with an error of the engine's. The messages stay stored. */
  #fail(error: unknown): void {
    this.#alarm.clear();
    this.#reader.expect(messageKeys.start);
    for (const listener of this.#listeners.removeAll()) listener.reject(error);
  }

  #dequeue(): void {
    this.#isDue = true;
    this.#dequeuing ??= this.#dequeueWhileDue();
  }

  /** It never rejects: the listeners are told. */
  async #dequeueWhileDue(): Promise<void> {
    // Messages that are committed in the same turn of the event loop join the first batch.
    await Promise.resolve();
    try {
      while (this.#isDue && !this.#listeners.isEmpty && this.#inFlight.size < maxInFlight) {
        this.#isDue = false;
        await this.#dequeueBatch();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#dequeuing = undefined;
    }
  }

  async #dequeueBatch(): Promise<void> {
    const batch = await this.#reader.read(this.#inFlight, maxInFlight - this.#inFlight.size);
    const { ready, lost } = batch;
    for (const message of ready) this.#inFlight.set(textOfBytes(message.key), message);
    await Promise.all([
      // A power cut may undo it: then a delivery is not counted.
      ...ready.map((message) => this.#write(beginDelivery(message), false)),
      ...lost.map((message) => this.#requeue(failDelivery(message, Date.now()), false)),
    ]);
    await this.#withdraw(this.#deliver(ready));
    if (batch.hasMore || lost.length > 0) this.#isDue = true;
    if (batch.nextReadyAt === undefined || this.#listeners.isEmpty) this.#alarm.clear();
    else this.#alarm.set(batch.nextReadyAt);
  }

  /** Hands messages to the listeners, and answers those for which there was none any more. */
  #deliver(messages: readonly ReadyMessage[]): ReadyMessage[] {
    return messages.filter((message) => {
      const listener = this.#listeners.next();
      if (listener === undefined) return this.#inFlight.delete(textOfBytes(message.key));
      void this.#deliverTo(listener, message);
      return false;
    });
  }

  /** It never rejects: the listeners are told. */
  async #deliverTo({ handler, sync }: ActiveListener, message: ReadyMessage): Promise<void> {
    let isTaken = true;
    try {
      await handler(message.value);
    } catch (error) {
      isTaken = false;
      reportError("Exception in queue handler", error);
    }
    // The delivery has been taken back then.
    if (this.#closing !== undefined) return;
    const finishing = this.#finish(message, isTaken, sync);
    this.#finishing.add(finishing);
    await finishing;
    this.#finishing.delete(finishing);
  }

  async #finish(message: StoredMessage, isTaken: boolean, sync: boolean): Promise<void> {
    try {
      const end = isTaken ? completeDelivery(message) : failDelivery(message, Date.now());
      await this.#write(end, sync);
      this.#inFlight.delete(textOfBytes(message.key));
      if (this.#expect(end) || this.#isDue) this.#dequeue();
    } catch (error) {
      this.#fail(error);
    }
  }

  async #withdraw(messages: readonly StoredMessage[]): Promise<void> {
    await Promise.all(messages.map((message) => this.#requeue(withdrawDelivery(message), false)));
  }

  async #requeue(mutations: readonly StoredMutation[], sync: boolean): Promise<void> {
    await this.#write(mutations, sync);
    this.#expect(mutations);
  }

  /** Has the messages that were stored delivered later; false where there are none. */
  #expect(mutations: readonly StoredMutation[]): boolean {
    const messages = mutations.filter(({ type, key }) => type === "set" && isMessageKey(key));
    for (const { key } of messages) this.#reader.expect(key);
    return messages.length > 0;
  }

  async #write(mutations: readonly StoredMutation[], sync: boolean): Promise<void> {
    await this.#commit({ checks: [], mutations, sync });
  }
}
