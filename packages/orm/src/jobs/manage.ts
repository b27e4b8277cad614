import { InvalidArgumentError } from "../errors/query-errors.js";
import { isPlainObject } from "../model/is-plain-object.js";
import { groupRows } from "../read/aggregate/aggregate-rows.js";
import { countRows } from "../read/aggregate/count-rows.js";
import type { Page } from "../state/context/page.js";
import { ReadMeter } from "../state/context/read-meter.js";
import { withReadView } from "../state/context/read-view.js";
import type { TableContext } from "../state/context/table-context.js";
import type { FailedJobs, JobCounts, JobInfo, JobListOptions } from "./job-types.js";
import { changeJobs, inCommits, type JobChanges, jobsPerCommit } from "./store/job-changes.js";
import {
  type JobRow,
  type JobState,
  jobModel,
  jobStates,
  type StoredJob,
} from "./store/job-model.js";
import { waitingRow } from "./store/job-states.js";
import { cancelMark, markOf } from "./store/marks.js";
import { KeyOwners, listJobs, readJobs } from "./store/stored-jobs.js";

export async function getJob(
  context: TableContext,
  topic: string,
  id: string,
): Promise<JobInfo | null> {
  const [found] = await readJobs(context, [idOf(topic, id, "get")]);
  if (found === undefined || found.row.topic !== topic || isOver(found.row)) return null;
  return infoOf(found.row);
}

export async function pageOfJobs(
  context: TableContext,
  topic: string,
  { state, ...page }: JobListOptions & { readonly state: JobState },
): Promise<Page<JobInfo>> {
  if (!jobStates.includes(state)) {
    const reason = `it must be one of ${jobStates.join(", ")}`;
    throw new InvalidArgumentError("", "state", reason, `jobs.${topic}.list`);
  }
  const { items, cursor } = await listJobs(context, topic, state, page);
  const kept = items.filter(({ row }) => !isOver(row));
  return { items: kept.map(({ row }) => infoOf(row)), cursor };
}

/** Returns how many jobs of a name are in each state. It reads one counter for each. */
export async function countJobs(context: TableContext, topic: string): Promise<JobCounts> {
  const meter = new ReadMeter(jobModel.name, Number.POSITIVE_INFINITY);
  const states = ["waiting", "delayed", "running", "failed"] as const;
  return await withReadView(context, [], async (view) => {
    const counts = { waiting: 0, delayed: 0, running: 0, failed: 0 };
    for (const state of states)
      counts[state] = await countRows(view, { where: { topic, state } }, meter);
    return counts;
  });
}

/** Returns how many jobs of each name are in each state. */
export async function countTopics(context: TableContext): Promise<Map<string, JobCounts>> {
  const meter = new ReadMeter(jobModel.name, Number.POSITIVE_INFINITY);
  const query = { by: ["topic", "state"], count: true } as const;
  const groups = await withReadView(context, [], (view) => groupRows(view, query, meter));
  const topics = new Map<string, Record<string, number>>();
  for (const { topic, state, count } of groups as {
    topic: string;
    state: JobState;
    count: number;
  }[]) {
    const counts = topics.get(topic) ?? { waiting: 0, delayed: 0, running: 0, failed: 0 };
    if (Object.hasOwn(counts, state)) counts[state] = count;
    topics.set(topic, counts);
  }
  return topics as ReadonlyMap<string, unknown> as Map<string, JobCounts>;
}

/** Lets failed jobs wait again. */
export async function retryJobs(
  context: TableContext,
  topic: string,
  jobs: FailedJobs,
): Promise<{ count: number; skipped: number }> {
  let skipped = 0;
  const retry = async (failed: readonly StoredJob[], changes: JobChanges): Promise<number> => {
    const rows = failed.map(({ row }) => row);
    const owners = await KeyOwners.of(context, rows);
    let count = 0;
    for (const found of failed) {
      const { row } = found;
      if (owners.get(row) !== undefined) continue;
      owners.add(row);
      const fresh = { ...row, attempts: 0, uniqueKey: row.key };
      changes.write(found, waitingRow(fresh, Date.now()));
      count++;
    }
    return count;
  };
  const count = await eachFailed(context, topic, jobs, "retry", retry, (missed) => {
    skipped += missed;
  });
  return { count, skipped };
}

/** Removes failed jobs. */
export async function discardJobs(
  context: TableContext,
  topic: string,
  jobs: FailedJobs,
): Promise<{ count: number }> {
  const discard = async (failed: readonly StoredJob[], changes: JobChanges): Promise<number> => {
    for (const found of failed) changes.write(found, null);
    return failed.length;
  };
  return { count: await eachFailed(context, topic, jobs, "discard", discard) };
}

/**
 * Changes failed jobs in groups of one commit each.
 *
 * @param change returns how many jobs of a group it changes.
 * @returns how many were changed.
 */
async function eachFailed(
  context: TableContext,
  topic: string,
  jobs: FailedJobs,
  call: string,
  change: (failed: readonly StoredJob[], changes: JobChanges) => Promise<number>,
  onSkipped: (count: number) => void = () => undefined,
): Promise<number> {
  const changeGroup = async (ids: readonly string[]): Promise<number> => {
    const { result } = await changeJobs(context, async (changes) => {
      const failed = (await readJobs(context, ids)).filter(
        (found) => found?.row.topic === topic && found.row.state === "failed",
      ) as StoredJob[];
      changes.mark(markOf(topic));
      const changed = await change(failed, changes);
      return [changed, failed.length - changed] as const;
    });
    onSkipped(result[1]);
    return result[0];
  };
  if (!isPlainObject(jobs)) return await changeGroup([idOf(topic, jobs, call)]);
  if (jobs.all !== true) {
    const reason = "it must be the id of a job, or { all: true }";
    throw new InvalidArgumentError("", "jobs", reason, `jobs.${topic}.${call}`);
  }
  let count = 0;
  let cursor: string | null = null;
  const take = jobsPerCommit(context);
  // Those that fail again in the meantime are left out.
  const until = Date.now();
  do {
    const page: Page<StoredJob> = await listJobs(context, topic, "failed", { take, cursor, until });
    const ids = page.items.map(({ row }) => row.id);
    await inCommits(ids, async (part) => {
      count += await changeGroup(part);
    });
    cursor = page.cursor;
  } while (cursor !== null);
  return count;
}

/** Removes a job that has not begun, or marks one that runs. Returns false if it has ended. */
export async function cancelJob(
  context: TableContext,
  topic: string,
  id: string,
): Promise<boolean> {
  const checked = idOf(topic, id, "cancel");
  const { result } = await changeJobs(context, async (changes) => {
    const [found] = await readJobs(context, [checked]);
    if (found === undefined || found.row.topic !== topic) return false;
    const { row } = found;
    if (row.state === "failed" || row.state === "done") return false;
    if (row.state !== "running") changes.write(found, null);
    else if (!row.isCancelled) {
      changes.write(found, { ...row, isCancelled: true });
      changes.mark(cancelMark);
    }
    return true;
  });
  return result;
}

function idOf(topic: string, id: unknown, call: string): string {
  if (typeof id === "string" && id !== "") return id;
  throw new InvalidArgumentError("", "id", "it must be the id of a job", `jobs.${topic}.${call}`);
}

/** True if a job is kept only because no worker has removed it yet. */
function isOver({ state, time }: JobRow): boolean {
  return state === "done" && time <= Date.now();
}

function infoOf(row: JobRow): JobInfo {
  const { id, topic, state, payload, priority, attempts, key, time, isCancelled, error } = row;
  const failure = error && { ...error, at: new Date(error.at) };
  return {
    id,
    name: topic,
    state,
    payload,
    priority,
    attempts,
    unique: key,
    enqueuedAt: new Date(row.enqueuedAt),
    runAt: state === "delayed" ? new Date(time) : null,
    leaseUntil: state === "running" ? new Date(time) : null,
    isCancelled,
    failure,
    result: row.result,
  };
}
