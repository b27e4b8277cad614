import { keepAlive } from "../keep-alive.js";
import type { QueueHandler } from "../kv.js";

export interface QueueListener {
  /** Resolves when the listener has ended. Rejects if the queue fails. */
  readonly done: Promise<void>;
  /** Ends deliveries to the handler. It may finish the messages that it has. */
  end(): void;
}

export interface ActiveListener {
  readonly handler: QueueHandler;
  /** True if the commit that ends a delivery must survive a power cut. */
  readonly sync: boolean;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** The listeners of a queue, which take turns. The process stays alive while there are any. */
export class QueueListeners {
  #listeners: ActiveListener[] = [];
  #turn = 0;
  #letGo: (() => void) | undefined;

  get isEmpty(): boolean {
    return this.#listeners.length === 0;
  }

  add(listener: ActiveListener): void {
    this.#listeners.push(listener);
    this.#letGo ??= keepAlive();
  }

  next(): ActiveListener | undefined {
    return this.#listeners[this.#turn++ % this.#listeners.length];
  }

  remove(listener: ActiveListener): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener);
    this.#letGoWhenEmpty();
  }

  removeAll(): ActiveListener[] {
    const removed = this.#listeners;
    this.#listeners = [];
    this.#letGoWhenEmpty();
    return removed;
  }

  #letGoWhenEmpty(): void {
    if (!this.isEmpty) return;
    this.#letGo?.();
    this.#letGo = undefined;
  }
}
