/**
 * The time by which entries expire, in milliseconds since the epoch. It stops while commits are
 * applied: a read that does not see a commit yet must not use a later time than the commit.
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
