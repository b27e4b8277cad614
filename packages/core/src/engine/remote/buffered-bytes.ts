/**
 * Bytes that the connections of a token hold, or those of all tokens together. A connection that
 * needs more waits until others have less.
 */
export class BufferedBytes {
  readonly #limit: number;
  readonly #all: BufferedBytes | undefined;
  readonly #waiting = new Set<() => void>();
  #held = 0;

  /** @param all what these bytes are a part of. */
  constructor(limit: number, all?: BufferedBytes) {
    this.#limit = limit;
    this.#all = all;
  }

  /** True if less than the limit is held, also of all together. */
  get hasRoom(): boolean {
    return this.#held < this.#limit && this.#all?.hasRoom !== false;
  }

  /** True if so many more bytes are within the limit, also of all together. */
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

  /** Forgets a function that waits. */
  forget(callback: () => void): void {
    this.#waiting.delete(callback);
    this.#all?.forget(callback);
  }

  #wake(): void {
    if (this.#waiting.size === 0 || this.#held >= this.#limit) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const callback of waiting) callback();
  }
}
