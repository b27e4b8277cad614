import { JobCancelledError, JobLostError } from "../../errors/job-errors.js";
import type { TableContext } from "../../state/context/table-context.js";
import { changeJobs, inCommits, jobsPerCommit } from "../store/job-changes.js";
import { jobAsStored } from "../store/job-model.js";
import { readJobs } from "../store/stored-jobs.js";
import type { JobRun } from "./job-run.js";

/** Renews the leases of the jobs that a worker runs, and notices jobs that it has lost. */
export class Leases {
  readonly #context: TableContext;
  readonly #lease: number;
  readonly #runs: () => Iterable<JobRun>;
  readonly #onError: (error: unknown) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Notices the ends of leases also while a renewal waits for the database. */
  readonly #ends: ReturnType<typeof setInterval>;

  /** @param runs returns the runs whose handlers have not ended. */
  constructor(
    context: TableContext,
    lease: number,
    runs: () => Iterable<JobRun>,
    onError: (error: unknown) => void,
  ) {
    this.#context = context;
    this.#lease = lease;
    this.#runs = runs;
    this.#onError = onError;
    this.#ends = setInterval(() => this.#loseEnded(), lease / 3);
    this.#renewLater();
  }

  end(): void {
    clearInterval(this.#ends);
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Renews the lease of one run. */
  async renew(run: JobRun): Promise<void> {
    await this.#renew([run]);
  }

  /**
   * Renews leases that last, although their stored ends have passed: the clock was set forward, or
   * the machine slept. Otherwise this worker would take its own jobs for lost, and run them again.
   */
  async renewOverdue(): Promise<void> {
    const [now, time] = [performance.now(), Date.now()];
    const overdue = [...this.#runs()].filter(
      ({ isCompleted, leaseEnd, stored }) =>
        !isCompleted && leaseEnd > now && stored.row.time <= time,
    );
    await this.#renewInCommits(overdue);
  }

  /** Aborts the signals of runs whose jobs were cancelled. */
  async findCancelled(): Promise<void> {
    const runs = [...this.#runs()];
    const found = await readJobs(
      this.#context,
      runs.map(({ row }) => row.id),
    );
    for (const [i, run] of runs.entries()) {
      const row = found[i]?.row;
      if (row?.isCancelled && row.run === run.row.run)
        run.abort(new JobCancelledError(run.job.name, run.row.id));
    }
  }

  #renewLater(): void {
    this.#timer = setTimeout(() => void this.#renewAll(), this.#lease / 3);
  }

  #loseEnded(): void {
    const now = performance.now();
    for (const run of this.#runs()) if (run.leaseEnd <= now && !run.isCompleted) lose(run);
  }

  async #renewAll(): Promise<void> {
    const now = performance.now();
    // A transaction that completes a job gets some time before a renewal makes it run again.
    const due = [...this.#runs()].filter(
      ({ isCompleting, isCompleted, leaseEnd }) =>
        !isCompleted && leaseEnd - now < (isCompleting ? this.#lease / 3 : (2 * this.#lease) / 3),
    );
    await this.#renewInCommits(due);
    if (this.#timer !== undefined) this.#renewLater();
  }

  async #renewInCommits(runs: readonly JobRun[]): Promise<void> {
    const size = jobsPerCommit(this.#context);
    for (let from = 0; from < runs.length; from += size) {
      const group = runs.slice(from, from + size);
      try {
        await inCommits(group, (part) => this.#renew(part));
      } catch (error) {
        // The next renewal may succeed, as long as the leases last.
        this.#onError(error);
      }
    }
  }

  async #renew(runs: readonly JobRun[]): Promise<void> {
    const begin = performance.now();
    const ids = runs.map(({ row }) => row.id);
    const { result: rows, versionstamp } = await changeJobs(this.#context, async (changes) => {
      const found = await readJobs(this.#context, ids);
      const time = Date.now() + this.#lease;
      return runs.map(({ row }, i) => {
        const stored = found[i];
        if (stored?.row.state !== "running" || stored.row.run !== row.run) return undefined;
        const renewed = { ...stored.row, time };
        changes.write(stored, renewed);
        return renewed;
      });
    });
    for (const [i, run] of runs.entries()) {
      const row = rows[i];
      if (row === undefined) {
        if (!run.isCompleted) lose(run);
        continue;
      }
      run.stored = jobAsStored(row, versionstamp!);
      run.leaseEnd = begin + this.#lease;
      if (row.isCancelled) run.abort(new JobCancelledError(run.job.name, run.row.id));
    }
  }
}

function lose(run: JobRun): void {
  run.abort(new JobLostError(run.job.name, run.row.id));
}
