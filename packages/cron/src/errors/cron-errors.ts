import { KeywrightError, KeywrightTypeError } from "@keywright/core";

/** A schedule that is not valid, or that never comes. */
export class CronScheduleError extends KeywrightTypeError {
  /** The schedule as text. */
  readonly schedule: string;
  /** The problem as a clause. */
  readonly reason: string;

  constructor(schedule: string, reason: string, cause?: unknown) {
    const fields = "minute, hour, day of the month, month and day of the week";
    const message = `The cron schedule "${schedule}" is not valid: ${reason}. It has five fields: ${fields}.`;
    super("KW_CRON_SCHEDULE_INVALID", message, { cause });
    this.schedule = schedule;
    this.reason = reason;
  }
}

/** The `completion` of a run was not committed, because a check that its handler added failed. */
export class CronCommitRefusedError extends KeywrightError {
  /** The name of the cron. */
  readonly cron: string;

  constructor(cron: string) {
    const message = `The cron ${cron} added a check to its completion that failed. Nothing was written. The handler runs again by the backoff schedule: let it read again what it checks.`;
    super("KW_CRON_COMMIT_REFUSED", message, { retryable: true });
    this.cron = cron;
  }
}

/**
 * The `completion` of a run could not be committed: the database refused it, for example because it
 * is too large, or failed. `cause` is the error of the database.
 */
export class CronCompletionError extends KeywrightError {
  /** The name of the cron. */
  readonly cron: string;

  constructor(cron: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : "the database has failed";
    const message = `The completion of the cron ${cron} could not be committed, and nothing of it was written: ${reason} The handler runs again by the backoff schedule.`;
    super("KW_CRON_COMPLETION_FAILED", message, { cause });
    this.cron = cron;
  }
}

/**
 * A handler still runs, but another process may have taken over its run: this process stood still
 * for longer than its lease, or the database did not answer.
 */
export class CronRunLostError extends KeywrightError {
  /** The name of the cron. */
  readonly cron: string;

  constructor(cron: string, cause?: unknown) {
    const message = `The cron ${cron} has lost its run: its lease could not be renewed in time. Another process may have taken it over. End the handler when its signal is aborted, or pass a longer lease.`;
    super("KW_CRON_RUN_LOST", message, { cause });
    this.cron = cron;
  }
}

/** A process has ended, or has lost its lease, while it ran a cron. */
export class CronInterruptedError extends KeywrightError {
  /** The name of the cron. */
  readonly cron: string;

  constructor(cron: string, { host, pid }: { readonly host: string; readonly pid: number }) {
    const message = `The cron ${cron} was interrupted: process ${pid} on ${host} has ended, or stood still for longer than its lease.`;
    super("KW_CRON_INTERRUPTED", message);
    this.cron = cron;
  }
}
