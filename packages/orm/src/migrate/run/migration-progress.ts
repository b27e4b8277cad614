/**
 * What a run does: rows are counted, entries of indexes that are gone are removed, rows are changed, the entries of new
 * indexes are written, and then looked at.
 */
export type MigrationPhase = "counting" | "dropping" | "transforming" | "building" | "verifying";

/** How far a run has come with one model. */
export interface MigrationProgress {
  readonly model: string;
  /** The names of the indexes that it works at; none where it changes rows. */
  readonly indexes: readonly string[];
  readonly phase: MigrationPhase;
  /** Rows, or entries where they are removed. */
  readonly rowsDone: number;
  /** Rows there were when they were counted; where they are not, or not yet, it grows with `rowsDone`. */
  readonly rowsTotal: number;
  /** Of this run; 0 before its first batch. */
  readonly rowsPerSecond: number;
  /** By the rate of this run; undefined before its first batch, and where nobody knows how many rows there are. */
  readonly secondsLeft: number | undefined;
}

/** Measures the rate of a run from its first row on, and hands its progress on. */
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

  /** Reports how many rows are counted. */
  counting(rows: number): void {
    this.#report("counting", rows, rows, 0, undefined);
  }

  /**
   * Begins a phase, with so many rows done by earlier runs.
   *
   * @param rowsTotal undefined where nobody knows.
   */
  start(phase: MigrationPhase, rowsDone: number, rowsTotal: number | undefined): void {
    this.#phase = phase;
    this.#startedAt = performance.now();
    this.#doneBefore = rowsDone;
    this.#report(phase, rowsDone, rowsTotal ?? rowsDone, 0, undefined);
  }

  /** Reports how many rows are done, in the phase that was begun last. */
  advance(rowsDone: number, rowsTotal: number | undefined): void {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const rate = seconds > 0 ? (rowsDone - this.#doneBefore) / seconds : 0;
    const isKnown = rate > 0 && rowsTotal !== undefined;
    const left = isKnown ? Math.max(rowsTotal - rowsDone, 0) / rate : undefined;
    this.#report(this.#phase, rowsDone, Math.max(rowsTotal ?? 0, rowsDone), rate, left);
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
