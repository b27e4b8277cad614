import type { AnyJobs } from "../jobs/define/define-job.js";
import type { JobQueues, ScopedJobQueue } from "../jobs/job-types.js";
import type { JobHandlers, Worker, WorkOptions } from "../jobs/work/work-types.js";

/** Job definitions → the jobs of a transaction. Nothing if the database has none. */
export type TransactionJobs<J extends AnyJobs | undefined> = J extends AnyJobs
  ? { readonly jobs: JobQueues<J> }
  : unknown;

/** Job definitions → the jobs of a database, and the method that runs them. */
export type JobsOf<J extends AnyJobs | undefined, Tx> = J extends AnyJobs
  ? {
      /** The jobs of each definition. */
      readonly jobs: JobQueues<J>;
      /**
       * Begins to run jobs by handlers, in this process, until the worker is stopped. Jobs without
       * a handler stay and wait for another worker.
       *
       * ```ts
       * const worker = db.work({
       *   sendMail: async (job, { signal }) => await send(job.payload.userId, signal),
       * });
       * await worker.stop();
       * ```
       *
       * @throws {InvalidArgumentError} if a handler or an option is not valid.
       */
      readonly work: (handlers: JobHandlers<J, Tx>, options?: WorkOptions) => Worker;
    }
  : unknown;

/** Job definitions, scope → the jobs of the scope. Nothing if the database has none. */
export type ScopedJobs<J extends AnyJobs | undefined, S> = J extends AnyJobs
  ? { readonly jobs: { readonly [K in keyof J]: ScopedJobQueue<J[K], keyof S> } }
  : unknown;
