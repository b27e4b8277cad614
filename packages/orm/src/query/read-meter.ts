import { ReadLimitError } from "../errors/query-errors.js";

/** Counts what a call reads, and stops it where it reads too much. */
export class ReadMeter {
  readonly #model: string;
  readonly #maxReads: number;
  /** The index that is read, `"primaryKey"` for the rows themselves. */
  index: string | undefined;
  /** Entries read so far: an index entry and a row are a read each. */
  reads = 0;

  constructor(model: string, maxReads: number) {
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
