import type { AnyJobs } from "../../jobs/define/define-job.js";
import type { JobContext, JobHandler, Worker, WorkOptions } from "../../jobs/work/work-types.js";
import type { AnyDatabase } from "../../state/context/any-database.js";
import type { TransactionOptions } from "../../state/transaction/run-scoped-transaction.js";
import type { JobsOf, TransactionJobs } from "../job-database-types.js";

// biome-ignore lint/suspicious/noExplicitAny: types that only generated code knows.
type Known = any;

/**
 * Adds `jobs` of a transaction to its generated repositories, if the database has jobs.
 *
 * @param jobs the option of the database.
 */
export function withJobsOf<Jobs extends AnyJobs | undefined, Repositories extends object>(
  jobs: Jobs | undefined,
  tx: AnyDatabase,
  repositories: Repositories,
): Repositories & TransactionJobs<Jobs> {
  const added = jobs === undefined ? {} : { jobs: (tx as Known).jobs };
  return { ...repositories, ...added } as Repositories & TransactionJobs<Jobs>;
}

/**
 * Adds `jobs` and `work` of a database to its generated repositories, if it has jobs.
 *
 * @param jobs the option of the database.
 * @param transactionOf returns the repositories of a transaction, which handlers get.
 */
export function jobsThrough<Jobs extends AnyJobs | undefined, Repositories extends object, Tx>(
  jobs: Jobs | undefined,
  database: AnyDatabase,
  repositories: Repositories,
  transactionOf: (tx: Known) => Tx,
): Repositories & JobsOf<Jobs, Tx> {
  if (jobs === undefined) return repositories as Repositories & JobsOf<Jobs, Tx>;
  const source = database as Known;
  const work = (handlers: Readonly<Record<string, unknown>>, options?: WorkOptions): Worker =>
    source.work(mapped(handlers, transactionOf), options);
  const added: unknown = { jobs: source.jobs, work };
  return { ...repositories, ...(added as object) } as Repositories & JobsOf<Jobs, Tx>;
}

/** What is no function is left to `work`, which refuses it. */
function mapped(handlers: unknown, transactionOf: (tx: Known) => unknown): unknown {
  if (typeof handlers !== "object" || handlers === null) return handlers;
  const entries = Object.entries(handlers).map(([name, handler]) => [
    name,
    typeof handler === "function" ? handlerThrough(handler as Known, transactionOf) : handler,
  ]);
  return Object.fromEntries(entries);
}

function handlerThrough(
  handler: JobHandler<Known, Known>,
  transactionOf: (tx: Known) => unknown,
): JobHandler<Known> {
  return (job, context: JobContext) =>
    handler(job, {
      ...context,
      transaction: (body: Known, options?: TransactionOptions) =>
        context.transaction((tx) => body(transactionOf(tx)), options),
    });
}
