/** How far the building of a model's indexes has come. */
export interface MigrationProgress {
  readonly model: string;
  readonly indexes: readonly string[];
  /** Rows are counted first, then their entries are written. */
  readonly phase: "counting" | "building";
  readonly rowsDone: number;
  /** Rows there were when the count ended; it grows with `rowsDone` while rows are counted. */
  readonly rowsTotal: number;
  /** Of this run; 0 before its first batch. */
  readonly rowsPerSecond: number;
  /** By the rate of this run; undefined before its first batch and while rows are counted. */
  readonly secondsLeft: number | undefined;
}

/** Measures the rate of a run from its first row on, and hands its progress on. */
export class ProgressMeter {
  readonly #onProgress: (progress: MigrationProgress) => void;
  readonly #model: string;
  readonly #indexes: readonly string[];
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

  counting(rows: number): void {
    this.#report("counting", rows, rows, 0, undefined);
  }

  /** Begins to build, with so many rows done by earlier runs. */
  start(rowsDone: number, rowsTotal: number): void {
    this.#startedAt = performance.now();
    this.#doneBefore = rowsDone;
    this.#report("building", rowsDone, rowsTotal, 0, undefined);
  }

  building(rowsDone: number, rowsTotal: number): void {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const rate = seconds > 0 ? (rowsDone - this.#doneBefore) / seconds : 0;
    const left = rate > 0 ? Math.max(rowsTotal - rowsDone, 0) / rate : undefined;
    this.#report("building", rowsDone, Math.max(rowsTotal, rowsDone), rate, left);
  }

  #report(
    phase: MigrationProgress["phase"],
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
