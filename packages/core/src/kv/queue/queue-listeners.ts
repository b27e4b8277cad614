import { keepAlive } from "../keep-alive.js";

/** Takes a message; where it throws or rejects, the delivery has failed. */
export type MessageHandler = (value: unknown) => Promise<void> | void;

/** A handler to which messages are delivered, until it is stopped. */
export interface QueueListener {
  /** Resolves when it was stopped; rejects where the queue cannot go on. */
  readonly done: Promise<void>;
  /** No further message is delivered to it. What it is at work on it may finish. */
  stop(): void;
}

/** What a listener of this queue is to the queue. */
export interface ActiveListener {
  readonly handler: MessageHandler;
  /** Whether the end of a delivery must survive a power cut. */
  readonly sync: boolean;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Those who listen, each in its turn. While there are any, the process stays alive. */
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

  /** The one whose turn it is; undefined where nobody listens. */
  next(): ActiveListener | undefined {
    return this.#listeners[this.#turn++ % this.#listeners.length];
  }

  remove(listener: ActiveListener): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener);
    this.#letGoWhenEmpty();
  }

  /** All of them, who are none any more. */
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
