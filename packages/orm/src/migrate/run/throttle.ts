/** Says how long to wait, so that no more than so many rows a second are done. */
export class Throttle {
  readonly #rowsPerSecond: number;
  #freeAt = Number.NEGATIVE_INFINITY;

  /**
   * @param rowsPerSecond without a bound it is infinite.
   * @throws {RangeError} for what is no positive number.
   */
  constructor(rowsPerSecond: number) {
    if (!(rowsPerSecond > 0)) {
      throw new RangeError(`rowsPerSecond is a positive number, not ${rowsPerSecond}.`);
    }
    this.#rowsPerSecond = rowsPerSecond;
  }

  /** So many rows are a quarter of a second's work, and at least 1: a batch should have no more. */
  get batchRows(): number {
    return Math.max(1, Math.floor(this.#rowsPerSecond / 4));
  }

  /**
   * Counts rows that were done.
   *
   * @param now the time at which they were, in milliseconds of any clock.
   * @returns the milliseconds to wait before the next ones are.
   */
  took(rows: number, now: number): number {
    // Time in which nothing was done is not saved up.
    this.#freeAt = Math.max(this.#freeAt, now) + (rows / this.#rowsPerSecond) * 1000;
    return this.#freeAt - now;
  }
}
