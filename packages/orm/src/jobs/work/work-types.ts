import type { AnyDatabase } from "../../state/context/any-database.js";
import type { TransactionOptions } from "../../state/transaction/run-scoped-transaction.js";
import type { AnyJobs, JobDefinition } from "../define/define-job.js";
import type { Duration } from "../define/duration.js";
import type { JobPayload } from "../job-types.js";

/** A job that runs. */
export interface RunningJob<Payload = unknown> {
  readonly id: string;
  /** The `name` of its definition. */
  readonly name: string;
  /** The payload, parsed by the schema of the job. */
  readonly payload: Payload;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /** True if the job fails for good when this attempt fails. */
  readonly isLastAttempt: boolean;
  readonly priority: number;
  readonly unique: string | null;
  readonly enqueuedAt: Date;
}

/** What a handler gets in addition to the job. */
export interface JobContext<Tx = AnyDatabase> {
  /**
   * Aborted when the handler should end: with a `JobTimeoutError`, a `JobCancelledError`, a
   * `JobLostError` if another process may have the job, or a `WorkerStoppedError`.
   */
  readonly signal: AbortSignal;
  /**
   * Begins the `timeout` of the job again, and renews its lease. The lease is also renewed without
   * it, as long as the process does other work than to compute.
   *
   * @throws {JobLostError} if the job no longer belongs to this run.
   */
  heartbeat(): Promise<void>;
  /**
   * Runs a transaction whose commit also completes the job, so its writes happen exactly once. It
   * has succeeded then, whatever the handler does afterwards. What the function returns is the
   * result of the job.
   *
   * @throws {JobLostError} if the job no longer belongs to this run. Nothing was written.
   * @throws {JobCancelledError} if it was cancelled. Nothing was written.
   * @throws the errors of `transaction` of the database.
   */
  transaction<T>(body: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

/**
 * Runs a job. If it throws, the job is tried again by the `retry` of its definition. A job may run
 * more than once, also after a success, if its process ends before that is stored.
 */
export type JobHandler<J extends JobDefinition, Tx = AnyDatabase> = (
  job: RunningJob<JobPayload<J>>,
  context: JobContext<Tx>,
) => unknown;

/** Job definitions → a handler for some of them. */
export type JobHandlers<J extends AnyJobs, Tx> = {
  readonly [K in keyof J]?: JobHandler<J[K], Tx> | undefined;
};

/** Options of `work`. */
export interface WorkOptions {
  /** How many jobs of all names this worker runs at the same time. The default is 10. */
  readonly concurrency?: number | undefined;
  /** Stops the worker, as `stop` does. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long a job belongs to a process that does not answer. Then the job runs again, in any
   * process. Leases are renewed when a third has passed. The default is 30 seconds.
   */
  readonly lease?: Duration | undefined;
  /**
   * How long handlers may still run after their signals were aborted. Then the worker no longer
   * waits for them. The default is 5 seconds.
   */
  readonly grace?: Duration | undefined;
  /**
   * Called with errors that no caller gets: those of handlers, and those of the database, after
   * which the worker tries again. If it throws or rejects, that is printed. The default prints
   * errors of the database.
   */
  readonly onError?: ((error: unknown, job?: RunningJob) => unknown) | undefined;
}

/** Options of `stop`. */
export interface StopOptions {
  /**
   * How long to wait for jobs that run. Then their signals are aborted, and they wait again for
   * another worker, without counting the attempt. By default, it waits as long as they take.
   */
  readonly within?: Duration | undefined;
}

/** Runs jobs until it is stopped. The process stays alive until then. */
export interface Worker extends AsyncDisposable {
  /** How many jobs it runs now. */
  readonly running: number;
  /** Resolves when the worker has stopped. Rejects if the database was closed before. */
  readonly stopped: Promise<void>;
  /** Begins no more jobs, waits for those that run, and returns when their ends are stored. */
  stop(options?: StopOptions): Promise<void>;
}
