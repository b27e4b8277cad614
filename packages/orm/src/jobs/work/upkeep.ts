import { JobInterruptedError } from "../../errors/job-errors.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { CompiledJob } from "../define/define-job.js";
import { changeJobs, inCommits, jobsPerCommit } from "../store/job-changes.js";
import type { JobRow, JobState } from "../store/job-model.js";
import { failedRow, storedErrorOf, waitingRow } from "../store/job-states.js";
import { markOf } from "../store/marks.js";
import { listJobs, readJobs } from "../store/stored-jobs.js";

/** Returns the time of the first job of a name in a state. `Infinity` if there is none. */
async function firstTime(context: TableContext, topic: string, state: JobState): Promise<number> {
  const { items } = await listJobs(context, topic, state, { take: 1 });
  return items[0]?.row.time ?? Number.POSITIVE_INFINITY;
}

/*
 * Each of these functions makes about one commit, so that jobs run between them, however many are
 * due after a time without workers.
 */

/**
 * Lets delayed jobs wait that are due.
 *
 * @returns when the next one is due. It is at most `now` if more are.
 */
export async function promoteDue(
  context: TableContext,
  topic: string,
  now: number,
): Promise<number> {
  await changeUntil(context, topic, "delayed", now, (row) => waitingRow(row, row.time));
  return await firstTime(context, topic, "delayed");
}

/**
 * Lets jobs wait again whose leases have ended, or fail if they have no attempt left. The attempt
 * counts, so that a job that kills its process does not run for ever.
 *
 * @returns when the next lease ends. It is at most `now` if more have ended.
 */
export async function recoverLost(
  context: TableContext,
  { name, attempts }: CompiledJob,
  now: number,
  tolerance: number,
): Promise<number> {
  await changeUntil(context, name, "running", now - tolerance, (row) => {
    if (row.isCancelled) return null;
    // The stack is that of the worker that looks.
    const error = { ...storedErrorOf(new JobInterruptedError(name, row.id), now), stack: null };
    if (row.attempts >= attempts) return failedRow(row, error);
    return { ...waitingRow(row, row.enqueuedAt), error };
  });
  return (await firstTime(context, name, "running")) + tolerance;
}

/**
 * Removes jobs that have succeeded, and were kept until now.
 *
 * @returns when the next one is due. It is at most `now` if more are.
 */
export async function removeKept(
  context: TableContext,
  topic: string,
  now: number,
): Promise<number> {
  await changeUntil(context, topic, "done", now, () => null);
  return await firstTime(context, topic, "done");
}

/** Changes the first jobs of a state up to a time, as many as one commit takes. */
async function changeUntil(
  context: TableContext,
  topic: string,
  state: JobState,
  until: number,
  change: (row: JobRow) => JobRow | null,
): Promise<void> {
  const { items } = await listJobs(context, topic, state, { until, take: jobsPerCommit(context) });
  if (items.length === 0) return;
  await inCommits(items, async (part) => {
    let attempts = 0;
    await changeJobs(context, async (changes) => {
      const ids = part.map(({ row }) => row.id);
      const found = ++attempts === 1 ? part : await readJobs(context, ids);
      for (const stored of found) {
        if (stored?.row.state !== state || stored.row.time > until) continue;
        const row = change(stored.row);
        changes.write(stored, row);
        if (row?.state === "waiting" || stored.row.slot !== null) changes.mark(markOf(topic));
      }
    });
  });
}
