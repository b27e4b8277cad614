/** The progress of work that takes long. Each phase counts from the beginning. */
export interface Progress<Phase extends string = string> {
  readonly phase: Phase;
  /** The rows, entries or bytes that are done, including those of earlier runs. */
  readonly done: number;
  /** Undefined if it is unknown. At least `done`, also if there is more than was counted. */
  readonly total: number | undefined;
  /** The rate of this run. 0 before the first batch, and for a stored progress. */
  readonly perSecond: number;
}

/**
 * Reports the progress of one piece of work, and measures the rate of each phase.
 *
 * ```ts
 * const meter = new ProgressMeter<"reading">(onProgress);
 * meter.begin("reading");
 * for (const [i, page] of pages.entries()) {
 *   await read(page);
 *   meter.advance(i + 1, pages.length);
 * }
 * ```
 */
export class ProgressMeter<Phase extends string, Fields extends object = object> {
  readonly #onProgress: (progress: Progress<Phase> & Fields) => void;
  readonly #fields: Fields;
  #phase: Phase | undefined;
  #startedAt = 0;
  #doneBefore = 0;

  /** @param fields what every report has in addition, such as the name of a model. */
  constructor(onProgress: (progress: Progress<Phase> & Fields) => void, fields = {} as Fields) {
    this.#onProgress = onProgress;
    this.#fields = fields;
  }

  /**
   * Begins a phase, without a report.
   *
   * @param done what earlier runs have done.
   */
  begin(phase: Phase, done = 0): void {
    this.#phase = phase;
    this.#startedAt = performance.now();
    this.#doneBefore = done;
  }

  /** Begins a phase and reports it. */
  start(phase: Phase, done: number, total?: number): void {
    this.begin(phase, done);
    this.advance(done, total);
  }

  /** Reports what is done in the current phase, including what earlier runs have done. */
  advance(done: number, total?: number): void {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    this.#onProgress({
      ...this.#fields,
      phase: this.#phase as Phase,
      done,
      total: total === undefined ? undefined : Math.max(total, done),
      perSecond: seconds > 0 ? (done - this.#doneBefore) / seconds : 0,
    });
  }
}
