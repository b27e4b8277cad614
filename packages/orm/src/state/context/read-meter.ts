import { ReadLimitError } from "../../errors/query-errors.js";
import { assertArgument, is } from "../../model/shape.js";

export class ReadMeter {
  readonly #model: string;
  readonly #maxReads: number;
  readonly #signal: AbortSignal | undefined;
  /** The index that is read, or `"primaryKey"` for the rows themselves. */
  index: string | undefined;
  /** How many entries were read so far. An index entry and a row count as one read each. */
  reads = 0;

  constructor(model: string, maxReads: number, signal?: AbortSignal) {
    if (maxReads !== Number.POSITIVE_INFINITY) assertMaxReads(model, maxReads);
    signal?.throwIfAborted();
    this.#signal = signal;
    this.#model = model;
    this.#maxReads = maxReads;
  }

  get left(): number {
    return this.#maxReads - this.reads;
  }

  /**
   * Counts reads.
   *
   * @throws {ReadLimitError} if there are more than `maxReads`. They are not counted then, because
   * they are not made, or are only the read of one entry that shows that there is one more.
   * @throws the reason of the call's signal, if it is aborted.
   */
  add(entries: number): void {
    this.#signal?.throwIfAborted();
    if (entries > this.left) throw new ReadLimitError(this.#model, this.#maxReads, this.index);
    this.reads += entries;
  }
}

export function assertMaxReads(model: string, maxReads: unknown): asserts maxReads is number {
  assertArgument(model, "maxReads", maxReads, atLeastZero);
}

const atLeastZero = is<number>(
  (value) => typeof value === "number" && value >= 0,
  "a number of at least 0",
);
