/** Bytes that may be held at a time. Callers that need more wait until others release some. */
export class ByteBudget {
  readonly #limit: number;
  readonly #waiting: { readonly bytes: number; readonly admit: () => void }[] = [];
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Takes bytes, in the order of the calls. More than the limit can be taken only if none are held.
   *
   * @returns a promise if the caller has to wait.
   */
  take(bytes: number): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#hasRoom(bytes)) {
      this.#held += bytes;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push({ bytes, admit: resolve }));
  }

  /** Gives bytes back. A negative number takes some without waiting. */
  give(bytes: number): void {
    this.#held -= bytes;
    for (let next = this.#waiting[0]; next && this.#hasRoom(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#held += next.bytes;
      next.admit();
    }
  }

  #hasRoom(bytes: number): boolean {
    return this.#held === 0 || this.#held + bytes <= this.#limit;
  }
}
