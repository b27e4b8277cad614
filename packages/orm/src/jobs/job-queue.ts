import { TransactionBypassedError } from "../errors/transaction-errors.js";
import { assertArgument, functionOf, list } from "../model/shape.js";
import type { TableContext } from "../state/context/table-context.js";
import { isWithinTransaction } from "../state/transaction/transaction-scope.js";
import type { CompiledJob } from "./define/define-job.js";
import { enqueueRows, SharedEnqueue } from "./enqueue/enqueue-rows.js";
import { type NewJob, newRows } from "./enqueue/new-rows.js";
import type {
  EnqueuedJob,
  EnqueueManyOptions,
  EnqueueOptions,
  JobQueue,
  StoredJobs,
} from "./job-types.js";
import { cancelJob, countJobs, discardJobs, getJob, pageOfJobs, retryJobs } from "./manage.js";
import { jobModel } from "./store/job-model.js";

/** Returns the jobs of a definition. */
export function queueOf(context: TableContext, job: CompiledJob): JobQueue {
  const shared = context.transaction === undefined ? new SharedEnqueue(context) : undefined;
  const enqueue = async (jobs: readonly NewJob[], call: string): Promise<EnqueuedJob[]> => {
    const rows = await newRows(context, job, jobs, call);
    if (rows.length === 0) return [];
    return await (shared?.enqueue(rows) ?? enqueueRows(context, rows));
  };
  return Object.freeze({
    ...storedJobsOf(context, job.name),
    enqueue: async (payload: unknown, options: EnqueueOptions = {}) =>
      await writing(context, async () => {
        const [enqueued] = await enqueue([{ payload, options }], "enqueue");
        return enqueued!;
      }),
    enqueueMany: async (
      payloads: readonly unknown[],
      { unique, ...options }: EnqueueManyOptions<never> = {},
    ) =>
      await writing(context, async () => {
        const call = `jobs.${job.name}.enqueueMany`;
        assertArgument("", "payloads", payloads, list, call);
        if (unique !== undefined)
          assertArgument("", "unique", unique, functionOf(" of a payload"), call);
        const keyOf = (payload: unknown) => unique && { unique: unique(payload as never) };
        const added = payloads.map((payload) => ({
          payload,
          options: { ...options, ...keyOf(payload) },
        }));
        return await enqueue(added, "enqueueMany");
      }),
  });
}

/** Returns the stored jobs of a name. */
export function storedJobsOf(context: TableContext, name: string): StoredJobs<never> {
  const jobs: StoredJobs = {
    name,
    get: (id) => getJob(context, name, id),
    list: (options) => pageOfJobs(context, name, options),
    failed: (options = {}) => pageOfJobs(context, name, { ...options, state: "failed" }),
    counts: () => countJobs(context, name),
    retry: (failed) => writing(context, () => retryJobs(context, name, failed)),
    discard: (failed) => writing(context, () => discardJobs(context, name, failed)),
    cancel: (id) => writing(context, () => cancelJob(context, name, id)),
  };
  return jobs as StoredJobs<never>;
}

/**
 * Runs a write of jobs.
 *
 * @throws {TransactionBypassedError} if the function of a transaction calls it on the database.
 */
async function writing<T>(context: TableContext, write: () => Promise<T>): Promise<T> {
  const { transaction, kv } = context;
  if (transaction !== undefined) return await transaction.trackWrite(write);
  if (isWithinTransaction(kv)) throw new TransactionBypassedError(jobModel.name);
  return await write();
}
