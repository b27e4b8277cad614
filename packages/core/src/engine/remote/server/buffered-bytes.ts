/**
 * Bytes that the connections of a token hold, or those of all tokens together. A connection that
 * needs more waits until others have less.
 */
export class BufferedBytes {
  readonly #limit: number;
  readonly #all: BufferedBytes | undefined;
  readonly #waiting = new Set<() => void>();
  /** The waiter that may hold more than the limit. */
  #exceeding: (() => void) | undefined;
  #held = 0;

  /** @param all the bytes of all tokens, which include these. */
  constructor(limit: number, all?: BufferedBytes) {
    this.#limit = limit;
    this.#all = all;
  }

  /** True if less than the limit is held, also of all together. */
  get hasRoom(): boolean {
    return this.#held < this.#limit && this.#all?.hasRoom !== false;
  }

  /** True if this many more bytes are within the limit, also of all together. */
  fits(bytes: number): boolean {
    return this.#held + bytes <= this.#limit && this.#all?.fits(bytes) !== false;
  }

  /** Adds bytes, or removes them if the number is negative. More than the limit can be added. */
  change(bytes: number): void {
    this.#held += bytes;
    this.#all?.change(bytes);
    if (bytes < 0) this.#wake();
  }

  /** Calls a function once, when there may be room again. */
  whenRoom(callback: () => void): void {
    this.#waiting.add(callback);
    if (this.#all?.hasRoom === false) this.#all.whenRoom(callback);
  }

  /**
   * True if there is room for a waiter, or if the waiter may exceed the limit. One waiter at a time
   * may do so, until `endExceeding`. Without this, waiters that each hold a part of the bytes that
   * they need could wait for each other forever.
   */
  mayExceed(callback: () => void): boolean {
    if (this.#held >= this.#limit) {
      this.#exceeding ??= callback;
      if (this.#exceeding !== callback) return false;
    }
    return this.#all?.mayExceed(callback) !== false;
  }

  /** Lets another waiter exceed the limit. */
  endExceeding(callback: () => void): void {
    if (this.#exceeding === callback) {
      this.#exceeding = undefined;
      // Not now, because the caller may be about to wait too.
      process.nextTick(() => this.#wakeAll());
    }
    this.#all?.endExceeding(callback);
  }

  forget(callback: () => void): void {
    this.#waiting.delete(callback);
    this.#all?.forget(callback);
  }

  #wake(): void {
    if (this.#held < this.#limit) this.#wakeAll();
  }

  #wakeAll(): void {
    if (this.#waiting.size === 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const callback of waiting) callback();
  }
}
