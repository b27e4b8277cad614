import { TransactionConflictError } from "../../errors/transaction-errors.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { EnqueuedJob } from "../job-types.js";
import { changeJobs, isRefusal, type JobChanges, jobsPerCommit } from "../store/job-changes.js";
import type { JobRow } from "../store/job-model.js";
import { markOf } from "../store/marks.js";
import { KeyOwners } from "../store/stored-jobs.js";

/**
 * Stores new jobs in one commit, all or none, or with the commit of the transaction of the context.
 * If another job has the unique key of one of them, that one is not stored.
 */
export async function enqueueRows(
  context: TableContext,
  rows: readonly JobRow[],
  attempts?: number,
): Promise<EnqueuedJob[]> {
  const plan = async (changes: JobChanges): Promise<EnqueuedJob[]> => {
    const owners = await KeyOwners.of(context, rows);
    const enqueued: EnqueuedJob[] = [];
    for (const row of rows) {
      const owner = owners.get(row);
      if (owner === undefined) {
        owners.add(row);
        changes.write(null, row);
        changes.mark(markOf(row.topic));
      } else if (owner.check !== undefined) changes.check(owner.check);
      enqueued.push({ id: owner?.id ?? row.id, isNew: owner === undefined });
    }
    return enqueued;
  };
  return (await changeJobs(context, plan, attempts)).result;
}

/** How often the shared commit of several calls is tried. */
const sharedAttempts = 3;

/** The new jobs of a call. */
interface Waiting {
  readonly rows: readonly JobRow[];
  readonly resolve: (enqueued: EnqueuedJob[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Stores new jobs outside of transactions. Calls of one turn of the event loop share a commit. */
export class SharedEnqueue {
  readonly #context: TableContext;
  #waiting: Waiting[] = [];

  constructor(context: TableContext) {
    this.#context = context;
  }

  /** Stores jobs as {@link enqueueRows} does. */
  enqueue(rows: readonly JobRow[]): Promise<EnqueuedJob[]> {
    // A commit with few checks has no room for others.
    if (Number.isFinite(this.#context.limits.checks)) return enqueueRows(this.#context, rows);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ rows, resolve, reject });
      if (this.#waiting.length === 1) void this.#storeSoon();
    });
  }

  async #storeSoon(): Promise<void> {
    await Promise.resolve();
    const waiting = this.#waiting;
    this.#waiting = [];
    const most = jobsPerCommit(this.#context);
    let group: Waiting[] = [];
    let count = 0;
    for (const call of waiting) {
      if (count > 0 && count + call.rows.length > most) {
        void this.#store(group);
        [group, count] = [[], 0];
      }
      group.push(call);
      count += call.rows.length;
    }
    void this.#store(group);
  }

  /** Never rejects, because each call is settled by itself. */
  async #store(group: readonly Waiting[]): Promise<void> {
    const isShared = group.length > 1;
    const all = group.flatMap(({ rows }) => rows);
    try {
      const attempts = isShared ? sharedAttempts : undefined;
      const enqueued = await enqueueRows(this.#context, all, attempts);
      let next = 0;
      for (const { rows, resolve } of group) {
        resolve(enqueued.slice(next, next + rows.length));
        next += rows.length;
      }
    } catch (error) {
      // One of them may be too large, or its unique key may be that of many. No other waits for it.
      const isFree = isRefusal(error) || error instanceof TransactionConflictError;
      if (isShared && isFree) for (const call of group) void this.#store([call]);
      else for (const { reject } of group) reject(error);
    }
  }
}
