import { InvalidArgumentError, ReadLimitError } from "../errors/query-errors.js";

/** Counts what a call reads, and stops it where it reads too much. */
export class ReadMeter {
  readonly #model: string;
  readonly #maxReads: number;
  /** The index that is read, `"primaryKey"` for the rows themselves. */
  index: string | undefined;
  /** Entries read so far: an index entry and a row are a read each. */
  reads = 0;

  /** @throws {InvalidArgumentError} for a limit that is no number of at least 0. */
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
   * Counts entries that are about to be read.
   *
   * @throws {ReadLimitError} where they are more than are left.
   */
  add(entries: number): void {
    this.reads += entries;
    if (this.reads > this.#maxReads)
      throw new ReadLimitError(this.#model, this.#maxReads, this.index);
  }
}

/**
 * Looks at a limit of reads; `Infinity` is none.
 *
 * @throws {InvalidArgumentError} for what is no number of at least 0.
 */
export function assertMaxReads(model: string, maxReads: unknown): asserts maxReads is number {
  if (typeof maxReads === "number" && maxReads >= 0) return;
  throw new InvalidArgumentError(model, "maxReads", "it has to be a number of at least 0");
}
