import { monotonicUlid } from "@keywright/core";
import type { TableContext } from "../../state/context/table-context.js";
import { isLimitError } from "../../state/transaction/limit-error-of.js";
import type { CompiledJob } from "../define/define-job.js";
import { changeJobs, isAmbiguous, type JobChanges, jobsPerCommit } from "../store/job-changes.js";
import { type JobRow, jobAsStored, type StoredJob } from "../store/job-model.js";
import { runningRow } from "../store/job-states.js";
import { readJobs, takenSlots, waitingIds } from "../store/stored-jobs.js";

export interface ClaimOptions {
  /** How many jobs to take at most. */
  readonly take: number;
  /** Milliseconds. */
  readonly lease: number;
  /** How many blocks the head of the queue has, of which one is taken. */
  readonly spread: number;
  /** Returns how many of so many jobs may begin now. */
  readonly admit: (count: number) => Promise<number>;
}

export interface Claimed {
  readonly jobs: readonly StoredJob[];
  /** True if more jobs may wait that could begin now. */
  readonly mayHaveMore: boolean;
  /** True if others have taken some of the jobs at the same time. */
  readonly hasCollided: boolean;
}

/** How many jobs the head of the queue has at most. */
const largestWindow = 400;

const nothing: Claimed = { jobs: [], mayHaveMore: false, hasCollided: false };

/**
 * Takes waiting jobs of a name for a run, in one commit. Jobs that others take at the same time are
 * left out.
 */
export async function claimJobs(
  context: TableContext,
  job: CompiledJob,
  { take, lease, spread, admit }: ClaimOptions,
): Promise<Claimed> {
  const free = await freeSlots(context, job);
  // A job without a place has only the check of its row.
  const perCommit = jobsPerCommit(context, free === undefined ? 1 : 2);
  const most = Math.min(take, free?.length ?? take, perCommit);
  if (most === 0) return nothing;
  const window = Math.max(most, Math.min(most * spread, largestWindow));
  const ids = await waitingIds(context, job.name, window);
  const wanted = Math.min(most, Math.ceil(ids.length / spread));
  const count = wanted === 0 ? 0 : await admit(wanted);
  if (count === 0) return nothing;
  let chosen = blockOf(ids, count, spread);
  const run = monotonicUlid();
  const leaseEnd = Date.now() + lease;
  let attempts = 0;
  const claim = async (changes: JobChanges): Promise<JobRow[]> => {
    // Another process may have taken one of the places.
    const slots = ++attempts === 1 ? free && [...free] : await freeSlots(context, job);
    const rows: JobRow[] = [];
    for (const stored of await readJobs(context, chosen)) {
      if (stored?.row.state !== "waiting") continue;
      const slot = slots?.pop() ?? null;
      if (slots !== undefined && slot === null) break;
      const row = runningRow(stored.row, { run, leaseEnd, slot });
      changes.write(stored, row);
      rows.push(row);
    }
    return rows;
  };
  for (;;) {
    attempts = 0;
    try {
      const { result: rows, versionstamp } = await changeJobs(context, claim);
      const hasCollided = attempts > 1 || rows.length < chosen.length;
      const mayHaveMore = ids.length === window || ids.length > rows.length || hasCollided;
      const jobs = rows.map((row) => jobAsStored(row, versionstamp!));
      return { jobs, mayHaveMore, hasCollided };
    } catch (error) {
      if (isAmbiguous(error)) {
        // If it was stored, no other process takes the jobs before the lease ends.
        const found = await readJobs(context, chosen);
        const jobs = found.filter((stored) => stored?.row.run === run) as StoredJob[];
        if (jobs.length > 0) return { jobs, mayHaveMore: true, hasCollided: false };
      }
      if (chosen.length < 2 || !isLimitError(error)) throw error;
      // Their payloads are too large for one commit.
      chosen = chosen.slice(0, Math.ceil(chosen.length / 2));
    }
  }
}

/**
 * Returns a block of the head of the queue: the first one, or one of `spread` blocks at random. Two
 * processes rarely choose the same block, but would nearly always draw some of the same jobs.
 */
function blockOf(ids: readonly string[], count: number, spread: number): readonly string[] {
  const blocks = Math.min(spread, Math.ceil(ids.length / count));
  const from = Math.floor(Math.random() * blocks) * count;
  return ids.slice(from, from + count);
}

/** Returns the free places of a job with limited concurrency, in any order. */
async function freeSlots(
  context: TableContext,
  { name, concurrency }: CompiledJob,
): Promise<number[] | undefined> {
  if (concurrency === undefined) return undefined;
  const taken = await takenSlots(context, name);
  const free: number[] = [];
  for (let slot = 0; slot < concurrency; slot++) if (!taken.has(slot)) free.push(slot);
  // If the limit was lowered, jobs may have places above it.
  free.length = Math.max(0, Math.min(free.length, concurrency - taken.size));
  return shuffled(free);
}

/** Two processes that choose places at the same time rarely choose the same ones. */
function shuffled<T>(items: T[]): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const other = Math.floor(Math.random() * (i + 1));
    [items[i], items[other]] = [items[other]!, items[i]!];
  }
  return items;
}
