import { CommitQueue } from "../engine/commit-queue.js";
import type { AtomicWrite, Engine } from "../engine/engine.js";
import type { DatabaseMode } from "../engine/level/database-header.js";
import { maxGroupSize } from "../values/versionstamp.js";
import { decodeHintKey, isHintKey } from "./expiry/expiry-hint.js";
import { ExpirySweeper } from "./expiry/expiry-sweeper.js";
import { isMessageKey } from "./queue/message-key.js";
import { MessageQueue } from "./queue/message-queue.js";

/** An engine with what runs beside it, and the count of those who use them. */
export class SharedEngine {
  readonly engine: Engine;
  readonly mode: DatabaseMode;
  readonly messages: MessageQueue;
  readonly #queue: CommitQueue;
  readonly #sweeper: ExpirySweeper;
  readonly #onClosed: () => void;
  #users = 0;
  #closing: Promise<void> | undefined;

  /** @param onClosed is called when the last user has left and the engine is closed. */
  constructor(engine: Engine, mode: DatabaseMode, onClosed: () => void) {
    this.engine = engine;
    this.mode = mode;
    this.#queue = new CommitQueue(engine, maxGroupSize, (write) => this.#onApplied(write));
    const commit = (write: AtomicWrite) => this.#queue.commit(write);
    this.messages = new MessageQueue(engine, commit);
    this.#sweeper = new ExpirySweeper(engine, commit);
    this.#onClosed = onClosed;
  }

  /** Resolves when the engine is closed; undefined while it is in use. */
  get closing(): Promise<void> | undefined {
    return this.#closing;
  }

  /** Counts a user in. What has expired is swept from the time on when there is one who may write. */
  acquire(readOnly: boolean): void {
    this.#users++;
    if (!readOnly) this.#sweeper.schedule(Date.now());
  }

  /** As {@link CommitQueue.commit}. */
  commit(write: AtomicWrite): Promise<string | null> {
    return this.#queue.commit(write);
  }

  /** Lets go of the engine. It is closed, after the commits that wait, when nobody uses it any more. */
  async release(): Promise<void> {
    this.#users--;
    if (this.#users === 0) this.#closing = this.#close();
    await (this.#closing ?? this.#queue.idle());
  }

  /** Sees to what a write gives to do: an entry that will expire, a message to deliver. */
  #onApplied({ mutations }: AtomicWrite): void {
    for (const { key, type } of mutations) {
      if (key[0] !== 0 || type !== "set") continue;
      if (isHintKey(key)) this.#sweeper.schedule(decodeHintKey(key).dueAt);
      else if (isMessageKey(key)) this.messages.wake(key);
    }
  }

  async #close(): Promise<void> {
    try {
      await this.messages.close();
      await this.#sweeper.close();
      await this.#queue.idle();
      await this.engine.close();
    } finally {
      this.#onClosed();
    }
  }
}
