import { type CronStatus, listCrons } from "@keywright/cron";
import type { JobQueues } from "@keywright/orm";
import { openStoredJobs } from "@keywright/orm/codegen";
import type { CronState, WorkState } from "../protocol/work.js";
import type { Source } from "./source.js";

/**
 * The first parts of the keys of jobs, and of crons. A commit that changes them changes the work.
 */
export const workPrefixes = [["keywright_jobs"], ["__keywright", "cron"]] as const;

const queuesOfSources = new WeakMap<Source, JobQueues<Record<never, never>>>();

/**
 * Returns the jobs of a database. Undefined if it never had any: the studio does not write that it
 * has.
 */
export async function jobsOf(source: Source): Promise<JobQueues<Record<never, never>> | undefined> {
  const known = queuesOfSources.get(source);
  if (known !== undefined) return known;
  const opened = await openStoredJobs(source.kv);
  if (opened !== undefined) queuesOfSources.set(source, opened);
  return opened;
}

/** Returns the counts of all jobs, and all crons. */
export async function workOf(source: Source): Promise<WorkState> {
  const jobs = await jobsOf(source);
  const [stored, crons] = await Promise.all([jobs?.stored() ?? [], listCrons(source.kv)]);
  const topics = stored.map(({ name, waiting, delayed, running, failed }) => ({
    ...{ name, waiting, delayed, running, failed },
  }));
  return { jobs: topics, crons: crons.map(cronState) };
}

function cronState({ run, last, ...cron }: CronStatus): CronState {
  const { name, schedule, timeZone, next, succeeded, failed } = cron;
  return {
    ...{ name, schedule, timeZone, next, succeeded, failed },
    run: run
      ? {
          ...{ tick: run.tick, attempt: run.attempt, retryAt: run.retryAt ?? null },
          ...{ process: `${run.pid} on ${run.host}`, error: run.error ?? null },
        }
      : null,
    last: last ? { tick: last.tick, endedAt: last.endedAt, error: last.error ?? null } : null,
  };
}
