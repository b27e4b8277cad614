import { keepAlive } from "../../engine/keep-alive.js";
import type { QueueHandler } from "../kv.js";

export interface ActiveListener {
  readonly handler: QueueHandler;
  /** True if the commit that ends a delivery must survive a power cut. */
  readonly sync: boolean;
  /** True if the handler is in another process. This process then need not stay alive for it. */
  readonly isRemote: boolean;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** The listeners of a queue, which take turns. The listeners of this process keep it alive. */
export class QueueListeners {
  #listeners: ActiveListener[] = [];
  #turn = 0;
  #letGo: (() => void) | undefined;

  get isEmpty(): boolean {
    return this.#listeners.length === 0;
  }

  add(listener: ActiveListener): void {
    this.#listeners.push(listener);
    if (!listener.isRemote) this.#letGo ??= keepAlive();
  }

  next(): ActiveListener | undefined {
    return this.#listeners[this.#turn++ % this.#listeners.length];
  }

  remove(listener: ActiveListener): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener);
    this.#letGoIfPossible();
  }

  removeAll(): ActiveListener[] {
    const removed = this.#listeners;
    this.#listeners = [];
    this.#letGoIfPossible();
    return removed;
  }

  #letGoIfPossible(): void {
    if (this.#listeners.some(({ isRemote }) => !isRemote)) return;
    this.#letGo?.();
    this.#letGo = undefined;
  }
}
