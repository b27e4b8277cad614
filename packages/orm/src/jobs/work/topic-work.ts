import type { RateLimit } from "@keywright/core/tools";
import type { TableContext } from "../../state/context/table-context.js";
import type { CompiledJob } from "../define/define-job.js";
import type { StoredJob } from "../store/job-model.js";
import { claimJobs } from "./claim-jobs.js";
import { promoteDue, recoverLost, removeKept } from "./upkeep.js";
import type { JobHandler } from "./work-types.js";

/** How far the clocks of two machines may differ, in milliseconds, unless a lease is short. */
const clockTolerance = 5000;

/** How many blocks the head of the queue has at most, while others take jobs too. */
const largestSpread = 16;

/** After how many claims without a collision the number of blocks is one less. */
const claimsPerBlock = 10;

/** How many claims in a row may take no job before a pause. */
const freeClaims = 5;

/** The longest pause between claims that take no job, in milliseconds. */
const longestPause = 1000;

/** What a worker knows about the jobs of one name, and when it looks again. */
export class TopicWork {
  readonly job: CompiledJob;
  readonly handler: JobHandler<never>;
  readonly #context: TableContext;
  readonly #lease: number;
  readonly #limit: RateLimit | undefined;
  /** True if jobs may wait. */
  #mayClaim = true;
  /** True if a job may have been enqueued that is due before those that are known. */
  #isMarked = true;
  /** When the next delayed job is due. */
  #dueAt = 0;
  /** When to look for leases that have ended, and for results that are no longer kept. */
  #checkAt = 0;
  /**
   * When the rate limit permits the next job, in milliseconds of the monotonic clock: if the other
   * one is set back, jobs would wait until it comes to the same time again.
   */
  #admittedAt = 0;
  /** Until when nothing is done after a failure, in milliseconds of the monotonic clock. */
  #pausedUntil = 0;
  #spread = 1;
  /** How many claims in a row have found only entries of jobs that do not wait. */
  #emptyClaims = 0;

  constructor(
    context: TableContext,
    job: CompiledJob,
    handler: JobHandler<never>,
    lease: number,
    limit: RateLimit | undefined,
  ) {
    this.#context = context;
    this.job = job;
    this.handler = handler;
    this.#lease = lease;
    this.#limit = limit;
  }

  /** Records that jobs may have been added or become free. */
  wake(): void {
    this.#mayClaim = true;
    this.#isMarked = true;
  }

  /** Lets nothing be done for some milliseconds, after the database has failed. */
  pause(milliseconds: number): void {
    this.#pausedUntil = performance.now() + milliseconds;
  }

  get isPaused(): boolean {
    return this.#pausedUntil > performance.now();
  }

  /** True if {@link claim} may find jobs now. */
  get mayClaim(): boolean {
    return this.#mayClaim && this.#admittedAt <= performance.now();
  }

  /**
   * Returns when there may be something to do, in milliseconds since 1970.
   *
   * @param canClaim false if the worker runs as many jobs as it may.
   */
  nextAt(canClaim: boolean): number {
    const time = performance.now();
    if (this.#pausedUntil > time) return Date.now() + this.#pausedUntil - time;
    const pause = Math.max(0, this.#admittedAt - time);
    const claimAt = canClaim && this.#mayClaim ? Date.now() + pause : Number.POSITIVE_INFINITY;
    return Math.min(this.#dueAt, this.#checkAt, claimAt);
  }

  /**
   * Does a part of what is due: lets delayed jobs wait, takes jobs from processes that have ended,
   * and removes results. {@link nextAt} has passed if more is due.
   */
  async upkeep(): Promise<void> {
    const now = Date.now();
    if (this.#isMarked || this.#dueAt <= now) {
      this.#isMarked = false;
      try {
        this.#dueAt = await promoteDue(this.#context, this.job.name, now);
      } catch (error) {
        this.#isMarked = true;
        throw error;
      }
    }
    // If it is further ahead, the clock was set back.
    if (this.#checkAt > now && this.#checkAt <= now + Math.max(this.#lease, clockTolerance)) return;
    // A watch that no longer reports changes delays jobs only until now.
    this.#mayClaim = true;
    const tolerance = Math.min(clockTolerance, this.#lease / 3);
    const lostAt = await recoverLost(this.#context, this.job, now, tolerance);
    const removedAt = await removeKept(this.#context, this.job.name, now);
    // Another process may take a job now and end, so a look is due after each lease.
    const next = Math.max(now + tolerance, Math.min(lostAt, now + this.#lease));
    const isMoreDue = lostAt <= now || removedAt <= now;
    this.#checkAt = isMoreDue ? now : Math.min(next, Math.max(removedAt, now + 1000));
  }

  /** Takes jobs that wait. */
  async claim(take: number): Promise<readonly StoredJob[]> {
    this.#mayClaim = false;
    const options = {
      take,
      lease: this.#lease,
      spread: Math.ceil(this.#spread),
      admit: (count: number) => this.#admit(count),
    };
    const claiming = claimJobs(this.#context, this.job, options);
    const { jobs, mayHaveMore, hasCollided } = await claiming.catch((error: unknown) => {
      this.#mayClaim = true;
      throw error;
    });
    this.#mayClaim ||= mayHaveMore;
    this.#emptyClaims = jobs.length === 0 && hasCollided ? this.#emptyClaims + 1 : 0;
    // Others take the same jobs, or the entries are damaged, which no claim changes.
    if (this.#emptyClaims > freeClaims)
      this.#admitAfter(Math.min(2 ** (this.#emptyClaims - freeClaims), longestPause));
    const spread = hasCollided ? this.#spread * 2 : this.#spread - 1 / claimsPerBlock;
    this.#spread = Math.min(Math.max(spread, 1), largestSpread);
    return jobs;
  }

  #admitAfter(milliseconds: number): void {
    this.#admittedAt = performance.now() + milliseconds;
  }

  /** Returns how many of so many jobs the rate limit permits. */
  async #admit(count: number): Promise<number> {
    if (this.#limit === undefined) return count;
    let cost = Math.min(count, this.job.rate!.limit);
    for (;;) {
      const { ok, remaining, retryAfter } = await this.#limit.take(this.job.name, cost);
      if (ok) return cost;
      cost = Math.min(cost - 1, Math.floor(remaining));
      if (cost >= 1) continue;
      this.#admitAfter(Math.max(1, retryAfter));
      this.#mayClaim = true;
      return 0;
    }
  }
}
