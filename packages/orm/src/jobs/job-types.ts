import type * as z from "zod";
import type { Page } from "../state/context/page.js";
import type { AnyJobs, JobDefinition } from "./define/define-job.js";
import type { Duration } from "./define/duration.js";
import type { JobState } from "./store/job-model.js";

/** Job → the payload that `enqueue` takes: the input of its schema. */
export type JobInput<J extends JobDefinition> = z.input<J["schema"]>;

/** Job → the payload that its handler gets: the output of its schema. */
export type JobPayload<J extends JobDefinition> = z.output<J["schema"]>;

/** When and in which order a job runs. */
export interface EnqueueOptions {
  /** How long the job is not run. */
  readonly delay?: Duration | undefined;
  /** The time until which the job is not run, instead of `delay`. */
  readonly runAt?: Date | undefined;
  /**
   * A key that only one job of the name can have until it has ended: it has succeeded, was removed,
   * or is in the list of failed jobs. If another job has the key, nothing is enqueued.
   */
  readonly unique?: string | undefined;
  /** Jobs of a higher priority run first. The default is that of the job. */
  readonly priority?: number | undefined;
}

/** Options of `enqueueMany`. They apply to each of the jobs. */
export interface EnqueueManyOptions<Input> extends Omit<EnqueueOptions, "unique"> {
  /** Returns the unique key of a job. */
  readonly unique?: ((payload: Input) => string) | undefined;
}

/** What `enqueue` returns. */
export interface EnqueuedJob {
  readonly id: string;
  /** False if another job has the unique key. Then `id` is its id, and nothing was enqueued. */
  readonly isNew: boolean;
}

/** Why the last attempt of a job failed. */
export interface JobFailure {
  readonly name: string;
  readonly message: string;
  /** The code of the error, such as `KW_JOB_PAYLOAD_INVALID`. */
  readonly code: string | null;
  readonly stack: string | null;
  /** The fields that do not fit the schema, if the payload no longer does. */
  readonly issues: readonly {
    readonly path: readonly (string | number)[];
    readonly message: string;
  }[];
  readonly at: Date;
}

/** A job as it is stored. */
export interface JobInfo<Payload = unknown> {
  readonly id: string;
  /** The `name` of its definition. */
  readonly name: string;
  readonly state: JobState;
  /** As it was enqueued. It may not fit the schema, if that has changed. */
  readonly payload: Payload;
  readonly priority: number;
  /** How many attempts have begun. */
  readonly attempts: number;
  readonly unique: string | null;
  readonly enqueuedAt: Date;
  /** When the job is due, if it is delayed. */
  readonly runAt: Date | null;
  /** Until when the process that runs the job has it. It is renewed while the handler runs. */
  readonly leaseUntil: Date | null;
  /** True if the job was cancelled, and its handler has not ended yet. */
  readonly isCancelled: boolean;
  /** Why the last attempt failed. */
  readonly failure: JobFailure | null;
  /** What the handler returned. Only jobs with `keepResult` have it. */
  readonly result: unknown;
}

/** How many jobs are in each state. Each number is kept as a counter. */
export interface JobCounts {
  readonly waiting: number;
  readonly delayed: number;
  readonly running: number;
  readonly failed: number;
}

/** Which jobs `retry` and `discard` are for: one by its id, or all that have failed. */
export type FailedJobs = string | { readonly all: true };

export interface JobListOptions {
  readonly take?: number | undefined;
  readonly cursor?: string | null | undefined;
}

/** Stored jobs of one name, whether the program knows their definition or not. */
export interface StoredJobs<Payload = unknown> {
  /** The `name` of the definition. */
  readonly name: string;
  /** Returns the job with an id. Null if it does not exist, or belongs to another name. */
  get(id: string): Promise<JobInfo<Payload> | null>;
  /**
   * Returns the jobs in a state: those that wait in the order in which they run, and all others by
   * their times.
   */
  list(options: JobListOptions & { readonly state: JobState }): Promise<Page<JobInfo<Payload>>>;
  /** Returns the dead-letter list: the jobs whose last attempt has failed, the oldest first. */
  failed(options?: JobListOptions): Promise<Page<JobInfo<Payload>>>;
  counts(): Promise<JobCounts>;
  /**
   * Lets failed jobs wait again, as if they had never been tried. A job whose unique key another
   * job has by now stays failed.
   */
  retry(jobs: FailedJobs): Promise<{ readonly count: number; readonly skipped: number }>;
  /** Removes failed jobs. */
  discard(jobs: FailedJobs): Promise<{ readonly count: number }>;
  /**
   * Removes a job that has not begun. A job that runs gets the abort of its signal, is not tried
   * again, and is removed when its handler ends.
   *
   * @returns false if there is no such job, or if it has ended.
   */
  cancel(id: string): Promise<boolean>;
}

/** The jobs of one definition. */
export interface JobQueue<J extends JobDefinition = JobDefinition> extends StoredJobs<JobInput<J>> {
  /**
   * Stores a job. Within a transaction, it is stored by the commit of the transaction.
   *
   * @throws {JobPayloadError} if the payload does not fit the schema.
   * @throws {InvalidArgumentError} if an option is not valid.
   */
  enqueue(payload: JobInput<J>, options?: EnqueueOptions): Promise<EnqueuedJob>;
  /**
   * Stores several jobs in one commit, all or none.
   *
   * @throws the errors of `enqueue`.
   * @throws {LimitExceededError} if they are too many for one commit of the database.
   */
  enqueueMany(
    payloads: readonly JobInput<J>[],
    options?: EnqueueManyOptions<JobInput<J>>,
  ): Promise<EnqueuedJob[]>;
}

/** Payload, fields of a scope → the payload, which can leave the fields out. */
export type ScopedPayload<Payload, F> = Payload extends object
  ? [F & keyof Payload] extends [never]
    ? Payload
    : Omit<Payload, F & keyof Payload> & Partial<Pick<Payload, F & keyof Payload>>
  : Payload;

/** The jobs of one definition within a scope with the fields `F`. They can only be enqueued. */
export interface ScopedJobQueue<J extends JobDefinition = JobDefinition, F = never> {
  /** The `name` of the definition. */
  readonly name: string;
  /**
   * Stores a job as `enqueue` of the database does. Fields of the scope that the payload has are
   * filled in. A unique key is unique within the scope.
   *
   * @throws {ScopeError} if the payload has another value of the scope.
   * @throws the errors of `enqueue` of the database.
   */
  enqueue(payload: ScopedPayload<JobInput<J>, F>, options?: EnqueueOptions): Promise<EnqueuedJob>;
  /**
   * Stores several jobs in one commit, all or none.
   *
   * @throws the errors of `enqueue`.
   * @throws {LimitExceededError} if they are too many for one commit of the database.
   */
  enqueueMany(
    payloads: readonly ScopedPayload<JobInput<J>, F>[],
    options?: EnqueueManyOptions<JobInput<J>>,
  ): Promise<EnqueuedJob[]>;
}

/** The jobs that a database has of one name. */
export interface StoredTopic extends JobCounts {
  readonly name: string;
  /** False if the program has no definition of this name. */
  readonly isKnown: boolean;
}

/** Job definitions → a queue for each of them, and what is stored of any name. */
export type JobQueues<J extends AnyJobs> = { readonly [K in keyof J]: JobQueue<J[K]> } & {
  /** Returns the counts of all names that have jobs, also of those that the program lacks. */
  readonly stored: () => Promise<StoredTopic[]>;
  /** Returns the stored jobs of a name, which the program may lack. */
  readonly named: (name: string) => StoredJobs;
};
