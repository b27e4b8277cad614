/**
 * The time by which entries expire, in milliseconds since the epoch. It stops while commits are
 * applied, because a read then sees the state before or after them, and must not be later than
 * them in one way and earlier in the other.
 */
export class ExpiryClock {
  #stopped: number | undefined;

  now(): number {
    return this.#stopped ?? Date.now();
  }

  /** Stops the clock before commits are applied, and returns their time. */
  stop(): number {
    this.#stopped = Date.now();
    return this.#stopped;
  }

  /** Continues when every read sees the commits. */
  resume(): void {
    this.#stopped = undefined;
  }
}
