import {
  JobCancelledError,
  JobLostError,
  JobPayloadError,
  JobTimeoutError,
  WorkerStoppedError,
} from "../../errors/job-errors.js";
import { withEitherSignal } from "../../promises/with-either-signal.js";
import type { AnyDatabase } from "../../state/context/any-database.js";
import type { JobTracing } from "../../state/context/database-settings.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { TransactionOptions } from "../../state/transaction/run-scoped-transaction.js";
import type { CompiledJob } from "../define/define-job.js";
import { changeJobs } from "../store/job-changes.js";
import { type JobRow, jobModel, type StoredJob } from "../store/job-model.js";
import { doneRow } from "../store/job-states.js";
import { markOf } from "../store/marks.js";
import { parsePayload } from "../store/parse-payload.js";
import { readJobs } from "../store/stored-jobs.js";
import type { Outcome } from "./finished-jobs.js";
import type { JobHandler, RunningJob } from "./work-types.js";

/**
 * Runs a transaction of the database.
 *
 * @param around runs within each attempt, with the tables of the transaction. It calls the body.
 */
export type RunTransaction = <T>(
  around: (tables: ReadonlyMap<string, TableContext>, runBody: () => Promise<T>) => Promise<T>,
  body: (tx: AnyDatabase) => Promise<T>,
  options?: TransactionOptions,
) => Promise<T>;

export interface JobRunOptions {
  readonly job: CompiledJob;
  /** The job as it was taken. */
  readonly stored: StoredJob;
  readonly handler: JobHandler<never>;
  /** The end of the lease, in milliseconds of the monotonic clock. */
  readonly leaseEnd: number;
  /** Milliseconds that the handler gets after its signal was aborted. */
  readonly grace: number;
  readonly runTransaction: RunTransaction;
  readonly tracing: JobTracing | undefined;
  /** Renews the lease of the run now. */
  readonly renew: (run: JobRun) => Promise<void>;
}

/** One run of a job by its handler. */
export class JobRun {
  readonly job: CompiledJob;
  /** The job as it was taken. */
  readonly row: JobRow;
  /** The job as this run has stored it last. */
  stored: StoredJob;
  /** The job as the handler and `onError` get it. */
  readonly running: RunningJob;
  /** The end of the lease, in milliseconds of the monotonic clock. */
  leaseEnd: number;
  /** True while a transaction runs that completes the job. A renewal would make it run again. */
  isCompleting = false;
  readonly #options: JobRunOptions;
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** True if a transaction of the handler has completed the job. */
  isCompleted = false;
  #giveUp: (() => void) | undefined;
  /** True if the stored payload does not fit the schema. */
  #isRefused = false;
  /** True if the handler has ended, or is no longer waited for. */
  #isOver = false;

  constructor(options: JobRunOptions) {
    const { job, stored, leaseEnd } = options;
    const { row } = stored;
    this.#options = options;
    this.job = job;
    this.row = row;
    this.stored = stored;
    this.leaseEnd = leaseEnd;
    this.running = {
      id: row.id,
      name: row.topic,
      payload: row.payload,
      attempt: row.attempts,
      isLastAttempt: row.attempts >= job.attempts,
      priority: row.priority,
      unique: row.key,
      enqueuedAt: new Date(row.enqueuedAt),
    };
  }

  /**
   * Calls the handler.
   *
   * @returns how it has ended. Undefined if nothing is to be stored, because its transaction has
   * completed the job, or the job no longer belongs to the run.
   */
  async run(): Promise<Outcome | undefined> {
    const givenUp = new Promise<"givenUp">((resolve) => {
      this.#giveUp = () => resolve("givenUp");
    });
    this.#beginTimeout();
    const { tracing } = this.#options;
    const handle = () => this.#handle();
    const traced = async () => await tracing!.run(this.running, this.row.trace, handle);
    const handling = tracing === undefined ? handle() : traced();
    // A handler that no one waits for any more may still throw.
    handling.catch(() => undefined);
    let outcome: Outcome;
    try {
      const ended = await Promise.race([handling, givenUp]);
      if (ended === "givenUp") throw this.#controller.signal.reason;
      outcome = { type: "done", result: ended.result };
    } catch (error) {
      outcome = { type: "failed", error, isFinal: this.#isRefused };
    } finally {
      this.#isOver = true;
      clearTimeout(this.#timer);
    }
    if (this.isCompleted) return undefined;
    const reason: unknown = this.#controller.signal.reason;
    if (outcome.type === "failed" && reason instanceof WorkerStoppedError)
      return { type: "released" };
    return reason instanceof JobLostError ? undefined : outcome;
  }

  async #handle(): Promise<{ readonly result: unknown }> {
    const { handler } = this.#options;
    const payload = await parsePayload(this.job, this.row.payload).catch((error: unknown) => {
      this.#isRefused = error instanceof JobPayloadError;
      throw error;
    });
    const { signal } = this.#controller;
    const result = await handler({ ...this.running, payload } as RunningJob<never>, {
      signal,
      heartbeat: () => this.#heartbeat(),
      transaction: (body, options) => this.#completeWith(body, options),
    });
    return { result };
  }

  /** Aborts the signal of the handler, and waits for it only for a while. */
  abort(reason: JobTimeoutError | JobCancelledError | JobLostError | WorkerStoppedError): void {
    if (this.#isOver || this.#controller.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#controller.abort(reason);
    this.#timer = setTimeout(() => this.#giveUp?.(), this.#options.grace);
  }

  #beginTimeout(): void {
    const { timeout } = this.job;
    if (timeout === undefined || this.#isOver || this.#controller.signal.aborted) return;
    clearTimeout(this.#timer);
    const abort = () => this.abort(new JobTimeoutError(this.job.name, this.row.id, timeout));
    this.#timer = setTimeout(abort, timeout);
  }

  async #heartbeat(): Promise<void> {
    this.#beginTimeout();
    if (this.isCompleted) return;
    this.#assertHeld();
    await this.#options.renew(this);
    this.#assertHeld();
  }

  /** Runs a transaction that completes the job. */
  async #completeWith<T>(
    body: (tx: AnyDatabase) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    const { job, row } = this;
    this.#assertHeld();
    if (this.isCompleted) throw new JobLostError(job.name, row.id);
    const complete = async (
      tables: ReadonlyMap<string, TableContext>,
      runBody: () => Promise<T>,
    ): Promise<T> => {
      const within = tables.get(jobModel.name)!;
      const readHeld = async (): Promise<StoredJob> => {
        const [stored] = await readJobs(within, [row.id]);
        if (stored?.row.state !== "running" || stored.row.run !== row.run)
          throw new JobLostError(job.name, row.id);
        if (stored.row.isCancelled) throw new JobCancelledError(job.name, row.id);
        return stored;
      };
      await readHeld();
      const result = await runBody();
      await changeJobs(within, async (changes) => {
        const held = await readHeld();
        changes.write(held, doneRow(held.row, result, job.keepResult, Date.now()));
        if (row.slot !== null) changes.mark(markOf(job.name));
      });
      return result;
    };
    this.isCompleting = true;
    try {
      const result = await withEitherSignal(
        this.#controller.signal,
        options.signal,
        async (signal) =>
          await this.#options.runTransaction(complete, body, { ...options, signal }),
      );
      this.isCompleted = true;
      return result;
    } finally {
      this.isCompleting = false;
    }
  }

  #assertHeld(): void {
    const reason: unknown = this.#controller.signal.reason;
    if (reason instanceof JobLostError || reason instanceof JobCancelledError) throw reason;
  }
}
