import { textOfBytes } from "../../bytes/text-of-bytes.js";
import type { AtomicWrite, Engine, StoredMutation } from "../../engine/engine.js";
import { DatabaseClosedError } from "../../errors/core-errors.js";
import type { QueueHandler } from "../kv.js";
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
import { type ActiveListener, type QueueListener, QueueListeners } from "./queue-listeners.js";
import { reportError } from "./report-error.js";

/** The maximum number of messages that handlers have at a time, as in Deno KV. */
const maxInFlight = 100;

/**
 * Delivers the stored messages of a database to the listeners of this process, each at least once.
 * A message stays stored until a handler has taken it or its last delivery has failed. See
 * `docs/internals/queue.md`.
 */
export class MessageQueue {
  readonly #commit: (write: AtomicWrite) => Promise<string | null>;
  readonly #reader: MessageReader;
  readonly #listeners = new QueueListeners();
  readonly #alarm = new Alarm(() => this.#dequeue());
  /** The messages that handlers have or are about to get, by the texts of their keys. */
  readonly #inFlight = new Map<string, StoredMessage>();
  readonly #finishing = new Set<Promise<void>>();
  /** True if there may be a due message that the last batch did not have. */
  #isDue = false;
  #dequeuing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(engine: Engine, commit: (write: AtomicWrite) => Promise<string | null>) {
    this.#commit = commit;
    this.#reader = new MessageReader(engine);
  }

  /**
   * Looks for messages to deliver. Called after every commit that stored messages, including those
   * of the queue itself.
   *
   * @param key the key of one of these messages. The next read begins at it or before it. Without a
   * key the queue is read from its beginning.
   */
  wake(key: Uint8Array = messageKeys.start): void {
    if (this.#inFlight.has(textOfBytes(key))) return;
    this.#reader.expect(key);
    this.#dequeue();
  }

  /**
   * Delivers messages to a handler, in turn with the other listeners. The process stays alive until
   * the listener has ended.
   *
   * @param sync true if the commit that ends a delivery must survive a power cut.
   * @throws {DatabaseClosedError} after `close()`.
   */
  listen(handler: QueueHandler, sync: boolean): QueueListener {
    if (this.#closing !== undefined) throw new DatabaseClosedError("listenQueue");
    let end: () => void = () => undefined;
    const done = new Promise<void>((resolve, reject) => {
      const listener = { handler, sync, resolve, reject };
      this.#listeners.add(listener);
      end = () => this.#end(listener);
    });
    this.#dequeue();
    return { done, end };
  }

  /**
   * Ends all listeners. Resolves after the last write of the queue. Does not wait for the
   * handlers: their messages are delivered again when the database is opened again.
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
    // If this fails, the deliveries count as failed when the database is opened again.
    await this.#withdraw([...this.#inFlight.values()]).catch(() => undefined);
    for (const listener of listeners) listener.resolve();
  }

  #end(listener: ActiveListener): void {
    this.#listeners.remove(listener);
    if (this.#listeners.isEmpty) this.#alarm.clear();
    void Promise.all(this.#finishing).then(() => listener.resolve());
  }

  /** Ends all listeners with an error of the engine. The messages stay stored. */
  #fail(error: unknown): void {
    this.#alarm.clear();
    this.#reader.expect(messageKeys.start);
    for (const listener of this.#listeners.removeAll()) listener.reject(error);
  }

  #dequeue(): void {
    this.#isDue = true;
    this.#dequeuing ??= this.#dequeueWhileDue();
  }

  /** Never rejects, because the listeners reject with the error. */
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
      // Not synced: if a power cut undoes the mark, the delivery is not counted.
      ...ready.map((message) => this.#write(beginDelivery(message), false)),
      ...lost.map((message) => this.#requeue(failDelivery(message, Date.now()), false)),
    ]);
    await this.#withdraw(this.#deliver(ready));
    if (batch.hasMore || lost.length > 0) this.#isDue = true;
    if (batch.nextReadyAt === undefined || this.#listeners.isEmpty) this.#alarm.clear();
    else this.#alarm.set(batch.nextReadyAt);
  }

  /** Delivers messages to the listeners in turn. Returns those for which no listener was left. */
  #deliver(messages: readonly ReadyMessage[]): ReadyMessage[] {
    return messages.filter((message) => {
      const listener = this.#listeners.next();
      if (listener === undefined) return this.#inFlight.delete(textOfBytes(message.key));
      void this.#deliverTo(listener, message);
      return false;
    });
  }

  /** Never rejects. The listeners reject with errors that the handler has not thrown. */
  async #deliverTo({ handler, sync }: ActiveListener, message: ReadyMessage): Promise<void> {
    let isTaken = true;
    try {
      await handler(message.value);
    } catch (error) {
      isTaken = false;
      reportError("Exception in queue handler", error);
    }
    // `close()` takes this delivery back.
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

  /** Makes the reader read the messages that were stored again. Returns false if there are none. */
  #expect(mutations: readonly StoredMutation[]): boolean {
    const messages = mutations.filter(({ type, key }) => type === "set" && isMessageKey(key));
    for (const { key } of messages) this.#reader.expect(key);
    return messages.length > 0;
  }

  async #write(mutations: readonly StoredMutation[], sync: boolean): Promise<void> {
    await this.#commit({ checks: [], mutations, sync });
  }
}
