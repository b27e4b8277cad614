import { CommitQueue } from "../engine/commit-queue.js";
import type { Engine } from "../engine/engine.js";
import { maxGroupSize } from "../values/versionstamp.js";

/** An engine with its commit queue, and the count of those who use them. */
export class SharedEngine {
  readonly engine: Engine;
  readonly queue: CommitQueue;
  readonly #onClosed: () => void;
  #users = 0;
  #closing: Promise<void> | undefined;

  /** @param onClosed is called when the last user has left and the engine is closed. */
  constructor(engine: Engine, onClosed: () => void) {
    this.engine = engine;
    this.queue = new CommitQueue(engine, maxGroupSize);
    this.#onClosed = onClosed;
  }

  /** Resolves when the engine is closed; undefined while it is in use. */
  get closing(): Promise<void> | undefined {
    return this.#closing;
  }

  acquire(): void {
    this.#users++;
  }

  /** Lets go of the engine. It is closed, after the commits that wait, when nobody uses it any more. */
  async release(): Promise<void> {
    this.#users--;
    if (this.#users === 0) this.#closing = this.#close();
    await (this.#closing ?? this.queue.idle());
  }

  async #close(): Promise<void> {
    try {
      await this.queue.idle();
      await this.engine.close();
    } finally {
      this.#onClosed();
    }
  }
}
