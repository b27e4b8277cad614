import { InvalidArgumentError, ReadLimitError } from "../errors/query-errors.js";

/** Counts the reads of one call and stops the call if it reads too much. */
export class ReadMeter {
  readonly #model: string;
  readonly #maxReads: number;
  /** The index that is read, or `"primaryKey"` for the rows themselves. */
  index: string | undefined;
  /** How many entries were read so far. An index entry and a row count as one read each. */
  reads = 0;

  /** @throws {InvalidArgumentError} if the limit is not a number of at least 0. */
  constructor(model: string, maxReads: number) {
    assertMaxReads(model, maxReads);
    this.#model = model;
    this.#maxReads = maxReads;
  }

  /** How many entries may still be read. */
  get left(): number {
    return this.#maxReads - this.reads;
  }

  /**
   * Counts entries that the caller reads next, or has just read.
   *
   * @throws {ReadLimitError} if they exceed the limit.
   */
  add(entries: number): void {
    this.reads += entries;
    if (this.reads > this.#maxReads)
      throw new ReadLimitError(this.#model, this.#maxReads, this.index);
  }
}

/**
 * Checks a limit of reads. `Infinity` means no limit.
 *
 * @throws {InvalidArgumentError} if it is not a number of at least 0.
 */
export function assertMaxReads(model: string, maxReads: unknown): asserts maxReads is number {
  if (typeof maxReads === "number" && maxReads >= 0) return;
  throw new InvalidArgumentError(model, "maxReads", "it must be a number of at least 0");
}
