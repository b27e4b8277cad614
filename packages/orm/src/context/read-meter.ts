import { InvalidArgumentError, ReadLimitError } from "../errors/query-errors.js";

export class ReadMeter {
  readonly #model: string;
  readonly #maxReads: number;
  /** The index that is read, or `"primaryKey"` for the rows themselves. */
  index: string | undefined;
  /** How many entries were read so far. An index entry and a row count as one read each. */
  reads = 0;

  constructor(model: string, maxReads: number) {
    assertMaxReads(model, maxReads);
    this.#model = model;
    this.#maxReads = maxReads;
  }

  get left(): number {
    return this.#maxReads - this.reads;
  }

  add(entries: number): void {
    this.reads += entries;
    if (this.reads > this.#maxReads)
      throw new ReadLimitError(this.#model, this.#maxReads, this.index);
  }
}

export function assertMaxReads(model: string, maxReads: unknown): asserts maxReads is number {
  if (typeof maxReads === "number" && maxReads >= 0) return;
  throw new InvalidArgumentError(model, "maxReads", "it must be a number of at least 0");
}
