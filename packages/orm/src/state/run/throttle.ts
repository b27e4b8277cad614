import { assertArgument, positive } from "../../model/shape.js";

/** Calculates how long to wait, so that a maximum number of rows per second is not exceeded. */
export class Throttle {
  readonly #rowsPerSecond: number;
  #freeAt = Number.NEGATIVE_INFINITY;

  /**
   * @param rowsPerSecond the maximum; infinity for no limit.
   * @throws {InvalidArgumentError} if it is not a positive number.
   */
  constructor(rowsPerSecond: number) {
    assertArgument("", "rowsPerSecond", rowsPerSecond, positive);
    this.#rowsPerSecond = rowsPerSecond;
  }

  /** The number of rows for a quarter of a second, at least 1. A batch should not have more. */
  get batchRows(): number {
    return Math.max(1, Math.floor(this.#rowsPerSecond / 4));
  }

  /** Records rows at a time in milliseconds. Returns how long to wait before the next rows. */
  afterBatch(rows: number, now: number): number {
    // Unused time does not accumulate.
    this.#freeAt = Math.max(this.#freeAt, now) + (rows / this.#rowsPerSecond) * 1000;
    return this.#freeAt - now;
  }
}
