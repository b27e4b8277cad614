/**
 * The phase of a run:
 *
 * - `"counting"`: counts the rows, so that the progress has a total
 * - `"dropping"`: removes the entries of dropped indexes
 * - `"transforming"`: changes rows
 * - `"building"`: writes the entries of new indexes, or counts the rows for new counters
 * - `"verifying"`: verifies the entries of new indexes
 */
export type MigrationPhase = "counting" | "dropping" | "transforming" | "building" | "verifying";

/** The progress of a run with one model. */
export interface MigrationProgress {
  readonly model: string;
  /** The indexes that the run works on. Empty while it changes rows or builds counters. */
  readonly indexes: readonly string[];
  readonly phase: MigrationPhase;
  /** Rows, or entries in the phase `"dropping"`. */
  readonly rowsDone: number;
  /** The rows when they were counted. `rowsDone` if they were not, or if there are more by now. */
  readonly rowsTotal: number;
  /** The rate of this run; 0 before its first batch. */
  readonly rowsPerSecond: number;
  /** Estimated from `rowsPerSecond`. Undefined before the first batch, or without a count. */
  readonly secondsLeft: number | undefined;
}

/** Measures the rate of each phase, and reports the progress. */
export class ProgressMeter {
  readonly #onProgress: (progress: MigrationProgress) => void;
  readonly #model: string;
  readonly #indexes: readonly string[];
  #phase: MigrationPhase = "counting";
  #startedAt = performance.now();
  #doneBefore = 0;

  constructor(
    model: string,
    indexes: readonly string[],
    onProgress: (progress: MigrationProgress) => void,
  ) {
    this.#model = model;
    this.#indexes = indexes;
    this.#onProgress = onProgress;
  }

  /** Reports the number of rows that have been counted so far. */
  counting(rows: number): void {
    this.#report("counting", rows, rows, 0, undefined);
  }

  /** Begins a phase, with the rows that earlier runs have done. */
  start(phase: MigrationPhase, rowsDone: number, rowsTotal: number | undefined): void {
    this.#phase = phase;
    this.#startedAt = performance.now();
    this.#doneBefore = rowsDone;
    this.#report(phase, rowsDone, rowsTotal ?? rowsDone, 0, undefined);
  }

  /** Reports the number of rows done in the current phase, including those of earlier runs. */
  advance(rowsDone: number, rowsTotal: number | undefined): void {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const rate = seconds > 0 ? (rowsDone - this.#doneBefore) / seconds : 0;
    const isKnown = rate > 0 && rowsTotal !== undefined;
    const secondsLeft = isKnown ? Math.max(rowsTotal - rowsDone, 0) / rate : undefined;
    this.#report(this.#phase, rowsDone, Math.max(rowsTotal ?? 0, rowsDone), rate, secondsLeft);
  }

  #report(
    phase: MigrationPhase,
    rowsDone: number,
    rowsTotal: number,
    rowsPerSecond: number,
    secondsLeft: number | undefined,
  ): void {
    const [model, indexes] = [this.#model, this.#indexes];
    this.#onProgress({
      model,
      indexes,
      phase,
      rowsDone,
      rowsTotal,
      rowsPerSecond,
      secondsLeft,
    });
  }
}
