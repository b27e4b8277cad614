/** The jobs and the crons of the database. */
export interface WorkState {
  /** Sorted by name. */
  readonly jobs: readonly JobTopic[];
  readonly crons: readonly CronState[];
}

/** How many jobs of a name are in each state. */
export interface JobTopic {
  readonly name: string;
  readonly waiting: number;
  readonly delayed: number;
  readonly running: number;
  readonly failed: number;
}

/** A job in the list of failed ones. */
export interface FailedJob {
  readonly id: string;
  readonly payload: unknown;
  readonly attempts: number;
  readonly enqueuedAt: Date;
  readonly failedAt: Date | null;
  /** The code or the name of the error, and its message. */
  readonly error: string;
}

/** A cron as it is stored. */
export interface CronState {
  readonly name: string;
  readonly schedule: string;
  readonly timeZone: string;
  readonly next: Date;
  /** The tick that runs now, or that waits for another attempt. */
  readonly run: {
    readonly tick: Date;
    readonly attempt: number;
    readonly retryAt: Date | null;
    readonly process: string;
    readonly error: string | null;
  } | null;
  readonly last: {
    readonly tick: Date;
    readonly endedAt: Date;
    readonly error: string | null;
  } | null;
  readonly succeeded: number;
  readonly failed: number;
}
