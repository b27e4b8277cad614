import { isClosedError } from "../../read/live/is-closed.js";
import type { TableContext } from "../../state/context/table-context.js";
import { isLimitError } from "../../state/transaction/limit-error-of.js";
import type { CompiledJob } from "../define/define-job.js";
import {
  changeJobs,
  isAmbiguous,
  isRefusal,
  type JobChanges,
  jobsPerCommit,
} from "../store/job-changes.js";
import type { JobRow, StoredJob } from "../store/job-model.js";
import {
  afterFailure,
  doneRow,
  shortErrorOf,
  storedErrorOf,
  waitingRow,
} from "../store/job-states.js";
import { markOf } from "../store/marks.js";
import { readJobs } from "../store/stored-jobs.js";

/** How the run of a job has ended. */
export type Outcome =
  | { readonly type: "done"; readonly result: unknown }
  | {
      readonly type: "failed";
      readonly error: unknown;
      /** True if another attempt cannot succeed. */
      readonly isFinal?: boolean;
      /** True if the database has no room for all of the error. */
      readonly isShort?: boolean;
    }
  /** The worker stops. The attempt does not count. */
  | { readonly type: "released" };

interface Finished {
  readonly job: CompiledJob;
  /** The job as the run has stored it last. */
  readonly stored: StoredJob;
  readonly outcome: Outcome;
  /** The end of the lease, in milliseconds of the monotonic clock. */
  readonly leaseEnd: number;
  /** True if it is not known whether an earlier commit has stored it. */
  readonly mayBeStored?: boolean;
  /** False if the job no longer belonged to the run. */
  readonly resolve: (isStored: boolean) => void;
}

/** The first and the longest pause after a failure of the database, in milliseconds. */
const firstPause = 50;
const longestPause = 2000;

/** Stores how jobs have ended. Jobs that end at the same time share a commit. */
export class FinishedJobs {
  readonly #context: TableContext;
  readonly #onError: (error: unknown) => void;
  #waiting: Finished[] = [];
  #isStoring = false;

  constructor(context: TableContext, onError: (error: unknown) => void) {
    this.#context = context;
    this.#onError = onError;
  }

  /**
   * Stores how a job has ended. Tries again while the database fails and the lease lasts.
   *
   * @returns false if the job no longer belongs to the run, although no commit may have ended it.
   */
  add(finished: Omit<Finished, "resolve">): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiting.push({ ...finished, resolve });
      if (!this.#isStoring) void this.#storeAll();
    });
  }

  async #storeAll(): Promise<void> {
    this.#isStoring = true;
    // Runs that end in the same turn of the event loop join the first commit.
    await Promise.resolve();
    const size = jobsPerCommit(this.#context);
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, size);
      try {
        await storeGroup(this.#context, group);
      } catch (error) {
        // One of them may not be storable, such as a result that is too large. It delays no other.
        for (const each of group) void this.#storeAlone(each, isAmbiguous(error));
      }
    }
    this.#isStoring = false;
  }

  async #storeAlone(finished: Finished, isUncertain: boolean): Promise<void> {
    let { outcome } = finished;
    let mayBeStored = isUncertain;
    const { leaseEnd, resolve } = finished;
    for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
      try {
        await storeGroup(this.#context, [{ ...finished, outcome, mayBeStored }]);
        return;
      } catch (error) {
        if (isClosedError(error)) return resolve(false);
        mayBeStored ||= isAmbiguous(error);
        if (outcome.type === "failed" && !outcome.isShort && isLimitError(error)) {
          outcome = { ...outcome, isShort: true };
          continue;
        }
        const isRefused = outcome.type === "done" && isRefusal(error);
        if (isRefused && (await this.#storesFailure(finished, error))) return;
        this.#onError(error);
      }
      if (performance.now() + pause > leaseEnd) return resolve(false);
      await new Promise((next) => setTimeout(next, pause));
    }
  }

  /** Stores that a job has failed whose result cannot be stored. */
  async #storesFailure(finished: Finished, error: unknown): Promise<boolean> {
    try {
      const outcome = { type: "failed", error, isShort: isLimitError(error) } as const;
      await storeGroup(this.#context, [{ ...finished, outcome }]);
      return true;
    } catch {
      // The database fails.
      return false;
    }
  }
}

async function storeGroup(context: TableContext, group: readonly Finished[]): Promise<void> {
  let attempts = 0;
  const store = async (changes: JobChanges): Promise<boolean[]> => {
    const now = Date.now();
    const mayKnow = ++attempts === 1;
    const unknown = group.filter((each) => !(mayKnow && isRemoved(each)));
    const read = await readJobs(
      context,
      unknown.map(({ stored }) => stored.row.id),
    );
    const found = new Map(unknown.map((each, i) => [each, read[i]]));
    return group.map((each) => {
      const { job, stored, outcome } = each;
      const before = found.has(each) ? found.get(each) : stored;
      if (before?.row.state !== "running" || before.row.run !== stored.row.run) return false;
      const next = rowAfter(before.row, job, outcome, now);
      changes.write(before, next);
      if (before.row.slot !== null || next?.state === "delayed" || next?.state === "waiting")
        changes.mark(markOf(job.name));
      return true;
    });
  };
  const { result } = await changeJobs(context, store);
  for (const [i, { mayBeStored = false, resolve }] of group.entries())
    resolve(result[i]! || mayBeStored);
}

/**
 * True if a job that nobody has changed is removed. The commit checks that, so it need not be read.
 * Another job is: a handler may have changed the payload that it got.
 */
function isRemoved({ job, outcome }: Finished): boolean {
  return outcome.type === "done" && job.keepResult === 0;
}

/** Returns what a running job becomes. Null if it is removed. */
function rowAfter(row: JobRow, job: CompiledJob, outcome: Outcome, now: number): JobRow | null {
  if (row.isCancelled) return null;
  switch (outcome.type) {
    case "done":
      return doneRow(row, outcome.result, job.keepResult, now);
    case "failed": {
      const { error, isFinal = false, isShort = false } = outcome;
      const stored = isShort ? shortErrorOf(error, now) : storedErrorOf(error, now);
      return afterFailure(row, job, stored, isFinal);
    }
    case "released":
      return waitingRow({ ...row, attempts: row.attempts - 1 }, row.enqueuedAt);
  }
}
