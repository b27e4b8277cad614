import { CommitQueue } from "../../engine/commit-queue.js";
import type { AtomicWrite, Engine } from "../../engine/engine.js";
import type { DatabaseMode } from "../../engine/level/database-header.js";
import { maxGroupSize } from "../../values/versionstamp.js";
import { decodeHintKey, isHintKey } from "../expiry/expiry-hint.js";
import { ExpirySweeper } from "../expiry/expiry-sweeper.js";
import { isMessageKey } from "../queue/message-key.js";
import { MessageQueue } from "../queue/message-queue.js";

/** An engine with its commit queue, message queue and expiry sweeper, and a count of its users. */
export class SharedEngine {
  readonly engine: Engine;
  readonly mode: DatabaseMode;
  readonly messages: MessageQueue;
  /** Commits as {@link CommitQueue.commit} does. */
  readonly commit: (write: AtomicWrite) => Promise<string | null>;
  readonly path: string | undefined;
  readonly #queue: CommitQueue;
  readonly #sweeper: ExpirySweeper;
  readonly #onClosed: () => void;
  #users = 0;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  /** @param onClosed is called when the last user has released the engine and it is closed. */
  constructor(engine: Engine, mode: DatabaseMode, onClosed: () => void, path?: string) {
    this.engine = engine;
    this.mode = mode;
    this.#queue = new CommitQueue(engine, maxGroupSize, (write) => this.#onApplied(write));
    this.commit = (write) => this.#queue.commit(write);
    this.messages = new MessageQueue(engine, this.commit);
    this.#sweeper = new ExpirySweeper(engine, this.commit);
    this.#onClosed = onClosed;
    this.path = path;
  }

  get closing(): Promise<void> | undefined {
    return this.#closing;
  }

  /** Adds a user. Expired entries are not swept before there is a user that may write. */
  async acquire(readOnly: boolean): Promise<void> {
    this.#users++;
    if (readOnly) return;
    this.#starting ??= this.#sweeper.start();
    await this.#starting;
  }

  /** Removes a user. If it was the last one, closes the engine after the waiting commits. */
  async release(): Promise<void> {
    this.#users--;
    if (this.#users === 0) this.#closing = this.#close();
    await (this.#closing ?? this.#queue.idle());
  }

  /** Schedules the sweep of entries that expire, and wakes the queue for new messages. */
  #onApplied({ mutations }: AtomicWrite): void {
    for (const { key, type } of mutations) {
      if (key[0] !== 0 || type !== "set") continue;
      if (isHintKey(key)) this.#sweeper.schedule(decodeHintKey(key).dueAt);
      else if (isMessageKey(key)) this.messages.wake(key);
    }
  }

  async #close(): Promise<void> {
    try {
      await this.#starting;
      await this.messages.close();
      await this.#sweeper.close();
      await this.#queue.idle();
      await this.engine.close();
    } finally {
      this.#onClosed();
    }
  }
}
