import type { AtomicWrite, Engine, QueueListener, StoredMutation } from "../../engine/engine.js";
import { RemoteHandlerError } from "../../engine/remote/remote-handler-error.js";
import { DatabaseClosedError } from "../../errors/core-errors.js";
import { awaitAll } from "../../values/await-all.js";
import type { QueueHandler } from "../kv.js";
import { Alarm } from "./alarm.js";
import { type HeldMessage, HeldMessages } from "./held-messages.js";
import { isMessageKey, messageKeys, readyAtOf } from "./message-key.js";
import { completeDelivery, failDelivery, type StoredMessage } from "./message-life.js";
import { MessageReader } from "./message-reader.js";
import { type ActiveListener, QueueListeners } from "./queue-listeners.js";
import { reportError } from "./report-error.js";

/** The maximum number of messages that handlers have at a time, as in Deno KV. */
const maxInFlight = 100;

/**
 * Delivers the stored messages of a database to the listeners of this process, each at least once.
 * A message stays stored until a handler has taken it or its last delivery has failed. See
 * `docs/internals/queue.md`.
 */
export class MessageQueue {
  readonly #reader: MessageReader;
  readonly #listeners = new QueueListeners();
  readonly #alarm = new Alarm(() => this.#dequeue());
  readonly #held: HeldMessages;
  readonly #isShared: boolean;
  /** Watches for messages of other processes. Undefined if nothing listens. */
  readonly #watchMessages: () => () => void;
  #unwatch: (() => void) | undefined;
  readonly #finishing = new Set<Promise<void>>();
  /** True if there may be a due message that the last batch did not have. */
  #isDue = false;
  #dequeuing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(engine: Engine, commit: (write: AtomicWrite) => Promise<string | null>) {
    this.#isShared = engine.isShared ?? false;
    this.#held = new HeldMessages(commit, this.#isShared);
    this.#reader = new MessageReader(engine);
    this.#watchMessages = () =>
      engine.watchRanges([messageKeys], (keys) => this.#wakeForOthers(keys));
  }

  /**
   * Looks for messages to deliver. Called after every commit that stored messages, including those
   * of the queue itself.
   *
   * @param key the key of one of these messages. The next read begins at it or before it. Without a
   * key the queue is read from its beginning.
   */
  wake(key: Uint8Array = messageKeys.start): void {
    if (this.#held.has(key)) return;
    this.#reader.expect(key);
    this.#dequeue();
  }

  /**
   * Delivers messages to a handler, in turn with the other listeners. The process stays alive until
   * the listener has ended, unless the handler is in another process.
   *
   * @param sync true if the commit that ends a delivery must survive a power cut.
   * @throws {DatabaseClosedError} after `close()`.
   */
  listen(handler: QueueHandler, sync: boolean, isRemote = false): QueueListener {
    if (this.#closing !== undefined) throw new DatabaseClosedError("listenQueue");
    let end: () => void = () => undefined;
    const done = new Promise<void>((resolve, reject) => {
      const listener = { handler, sync, isRemote, resolve, reject };
      this.#listeners.add(listener);
      if (this.#isShared) this.#unwatch ??= this.#watchMessages();
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

  /**
   * Ends all listeners with an error, because the database was moved to another place, where the
   * messages are delivered now.
   *
   * @param error that of the database for every further call.
   */
  fail(error: unknown): void {
    this.#fail(error);
  }

  async #close(): Promise<void> {
    const listeners = this.#listeners.removeAll();
    this.#rest();
    await this.#dequeuing;
    await Promise.all(this.#finishing);
    // If this fails, the deliveries count as failed when the database is opened again.
    await this.#withdraw(this.#held.all()).catch(() => undefined);
    for (const listener of listeners) listener.resolve();
  }

  #end(listener: ActiveListener): void {
    this.#listeners.remove(listener);
    if (this.#listeners.isEmpty) this.#rest();
    void Promise.all(this.#finishing).then(() => listener.resolve());
  }

  /** Ends all listeners with an error of the engine. The messages stay stored. */
  #fail(error: unknown): void {
    this.#rest();
    this.#reader.expect(messageKeys.start);
    for (const listener of this.#listeners.removeAll()) listener.reject(error);
  }

  /** Waits for no messages, because nothing listens. */
  #rest(): void {
    this.#alarm.clear();
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  /** Looks for messages that another process has stored or removed. */
  #wakeForOthers(keys: readonly Uint8Array[] | undefined): void {
    if (keys === undefined) this.wake();
    for (const each of keys ?? []) {
      if (this.#held.has(each) || !isMessageKey(each)) continue;
      const key = each.slice();
      const readyAt = readyAtOf(key);
      // The batch that is being read may not have the message.
      if (readyAt <= Date.now() || this.#dequeuing !== undefined) {
        this.wake(key);
        continue;
      }
      this.#reader.expect(key);
      this.#alarm.setEarlier(readyAt);
    }
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
      while (this.#isDue && !this.#listeners.isEmpty && this.#held.size < maxInFlight) {
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
    const batch = await this.#reader.read(this.#held.keyTexts(), maxInFlight - this.#held.size);
    const { ready, lost } = batch;
    const held = ready.map((message) => this.#held.add(message));
    const [begun] = await awaitAll([
      this.#begin(held),
      ...lost.map((message) => this.#failLost(message)),
    ]);
    await this.#withdraw(this.#deliver(begun));
    if (batch.hasMore || lost.length > 0) this.#isDue = true;
    if (batch.nextReadyAt === undefined || this.#listeners.isEmpty) this.#alarm.clear();
    else this.#alarm.set(batch.nextReadyAt);
  }

  /**
   * Returns the messages that no other process has. If the engine fails, none of them stays held by
   * this process.
   */
  async #begin(held: readonly HeldMessage[]): Promise<HeldMessage[]> {
    const results = await Promise.allSettled(held.map((each) => this.#held.begin(each)));
    const begun = held.filter((_, index) => {
      const result = results[index]!;
      return result.status === "fulfilled" && result.value;
    });
    const failure = results.find((result) => result.status === "rejected");
    if (failure === undefined) return begun;
    if (this.#isShared) await this.#withdraw(begun).catch(() => undefined);
    throw failure.reason;
  }

  async #failLost(message: StoredMessage): Promise<void> {
    const mutations = failDelivery(message, Date.now(), this.#isShared);
    if (await this.#held.change(message, mutations, false)) this.#expect(mutations);
  }

  /** Delivers messages to the listeners in turn. Returns those for which no listener was left. */
  #deliver(messages: readonly HeldMessage[]): HeldMessage[] {
    return messages.filter((held) => {
      const listener = this.#listeners.next();
      if (listener === undefined) return true;
      void this.#deliverTo(listener, held);
      return false;
    });
  }

  /** Never rejects. The listeners reject with errors that the handler has not thrown. */
  async #deliverTo({ handler, sync }: ActiveListener, held: HeldMessage): Promise<void> {
    let isTaken = true;
    try {
      await handler(held.message.value);
    } catch (error) {
      isTaken = false;
      // A handler in another process reports its own errors.
      if (!(error instanceof RemoteHandlerError)) reportError("Exception in queue handler", error);
    }
    // `close()` takes this delivery back.
    if (this.#closing !== undefined) return;
    const finishing = this.#finish(held, isTaken, sync);
    this.#finishing.add(finishing);
    await finishing;
    this.#finishing.delete(finishing);
  }

  async #finish(held: HeldMessage, isTaken: boolean, sync: boolean): Promise<void> {
    try {
      await this.#held.settle(held);
      const { message } = held;
      const end = isTaken
        ? completeDelivery(message)
        : failDelivery(message, Date.now(), this.#isShared);
      const isStored = await this.#held.change(message, end, sync);
      this.#held.remove(held);
      if ((isStored && this.#expect(end)) || this.#isDue) this.#dequeue();
    } catch (error) {
      // Its lease ends, after which any process delivers the message again.
      if (this.#isShared) this.#held.remove(held);
      this.#fail(error);
    }
  }

  async #withdraw(messages: readonly HeldMessage[]): Promise<void> {
    await awaitAll(messages.map(async (held) => this.#expect(await this.#held.withdraw(held))));
  }

  /** Makes the reader read the messages that were stored again. Returns false if there are none. */
  #expect(mutations: readonly StoredMutation[]): boolean {
    const messages = mutations.filter(({ type, key }) => type === "set" && isMessageKey(key));
    for (const { key } of messages) this.#reader.expect(key);
    return messages.length > 0;
  }
}
