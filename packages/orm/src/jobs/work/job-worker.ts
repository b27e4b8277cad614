import type { Kv } from "@keywright/core";
import { rateLimit } from "@keywright/core/tools";
import { JobLostError, WorkerStoppedError } from "../../errors/job-errors.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { systemPrefix } from "../../model/compiled-model.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import { assertArgument, functionOf, positiveInteger } from "../../model/shape.js";
import { isClosedError } from "../../read/live/is-closed.js";
import type { TableContext } from "../../state/context/table-context.js";
import { outsideTransactions } from "../../state/transaction/transaction-scope.js";
import { type Duration, durationOf, durationText, longestTimer } from "../define/duration.js";
import type { CompiledJobs } from "../job-queues.js";
import type { StoredJob } from "../store/job-model.js";
import { cancelMark, markKey, markOf } from "../store/marks.js";
import { FinishedJobs } from "./finished-jobs.js";
import { JobRun, type RunTransaction } from "./job-run.js";
import { Leases } from "./leases.js";
import { TopicWork } from "./topic-work.js";
import { watchMarks } from "./watch-marks.js";
import type { JobHandler, RunningJob, StopOptions, Worker, WorkOptions } from "./work-types.js";

/** After this many milliseconds, the clock is read again, because it may have been set. */
const longestSleep = 60_000;
/** The pause after the database has failed, in milliseconds. */
const failurePause = 1000;
const leastLease = 100;

type Handlers = Readonly<Record<string, JobHandler<never> | undefined>>;

/** What a worker needs of its database. */
export interface WorkSource {
  readonly kv: Kv;
  /** The table of jobs. */
  readonly context: TableContext;
  readonly jobs: CompiledJobs;
  readonly runTransaction: RunTransaction;
}

/**
 * Begins to run jobs.
 *
 * @throws {InvalidArgumentError} if a handler or an option is not valid.
 */
export function startWorker(source: WorkSource, handlers: unknown, options: WorkOptions): Worker {
  const checked = checkedOptions(options);
  const topics = topicsOf(source, handlers, checked.lease);
  // Its handlers are no part of a transaction whose function has begun the worker.
  return outsideTransactions(() => new JobWorker(source, topics, checked));
}

type CheckedOptions = ReturnType<typeof checkedOptions>;

class JobWorker implements Worker {
  readonly stopped: Promise<void>;
  readonly #source: WorkSource;
  readonly #topics: TopicWork[];
  readonly #options: CheckedOptions;
  readonly #finished: FinishedJobs;
  readonly #leases: Leases;
  readonly #ended = new AbortController();
  /** The runs whose handlers have not ended. */
  readonly #runs = new Set<JobRun>();
  /** The runs whose ends are not stored yet. */
  readonly #ending = new Set<Promise<void>>();
  #isStopping = false;
  /** True if jobs are given back that have not ended in time. */
  #isReleasing = false;
  #isWoken = false;
  #wakeUp: (() => void) | undefined;
  #failure: unknown;

  constructor(source: WorkSource, topics: TopicWork[], options: CheckedOptions) {
    this.#source = source;
    this.#topics = topics;
    this.#options = options;
    const { context, kv } = source;
    const onError = (error: unknown) => this.#report(error);
    this.#finished = new FinishedJobs(context, onError);
    this.#leases = new Leases(context, options.lease, () => this.#runs, onError);
    const marks = [cancelMark, ...new Set(topics.map(({ job }) => markOf(job.name)))] as const;
    const onChange = (positions: readonly number[]) => {
      const changed = new Set(positions.map((i) => marks[i]));
      if (changed.has(cancelMark)) void this.#leases.findCancelled().catch(onError);
      for (const topic of topics) if (changed.has(markOf(topic.job.name))) topic.wake();
      this.#wake();
    };
    const onClosed = () => this.#fail();
    void watchMarks(kv, marks.map(markKey), this.#ended.signal, onChange, onClosed);
    const stop = () => void this.stop().catch(() => undefined);
    options.signal?.addEventListener("abort", stop, { once: true });
    if (options.signal?.aborted) this.#isStopping = true;
    this.stopped = this.#work().finally(() => {
      options.signal?.removeEventListener("abort", stop);
    });
    this.stopped.catch(() => undefined);
  }

  get running(): number {
    return this.#runs.size;
  }

  async stop({ within }: StopOptions = {}): Promise<void> {
    const wait = within === undefined ? undefined : assertDuration("within", within, "stop");
    this.#isStopping = true;
    this.#wake();
    const release = () => {
      this.#isReleasing = true;
      for (const run of this.#runs) run.abort(new WorkerStoppedError());
    };
    const timer = wait === undefined ? undefined : setTimeout(release, wait);
    await this.stopped.finally(() => clearTimeout(timer));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #work(): Promise<void> {
    // A worker begins no job in the call that starts it.
    await Promise.resolve();
    try {
      while (!this.#isStopping) {
        this.#isWoken = false;
        let next: number;
        try {
          next = await this.#claimAll();
        } catch (error) {
          if (isClosedError(error)) this.#fail(error);
          else this.#report(error);
          next = Date.now() + failurePause;
        }
        if (!this.#isWoken && !this.#isStopping) await this.#sleepUntil(next);
      }
      while (this.#ending.size > 0) await Promise.allSettled(this.#ending);
    } finally {
      this.#ended.abort();
      this.#leases.end();
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Begins jobs of each name, and returns when there may be more to do. */
  async #claimAll(): Promise<number> {
    const each = async (step: (topic: TopicWork) => Promise<void>): Promise<void> => {
      for (const topic of [...this.#topics]) {
        if (topic.isPaused) continue;
        try {
          await step(topic);
        } catch (error) {
          if (isClosedError(error)) throw error;
          // The jobs of one name may be at fault, and then those of the others still run.
          topic.pause(failurePause);
          this.#report(error);
        }
      }
    };
    await this.#leases.renewOverdue();
    // First all of it: a place that becomes free meanwhile is for the name whose turn it is.
    await each((topic) => topic.upkeep());
    await each((topic) => this.#claim(topic));
    // The end of a run wakes the worker.
    const canClaim = this.#runs.size < this.#options.concurrency;
    return Math.min(...this.#topics.map((topic) => topic.nextAt(canClaim)));
  }

  async #claim(topic: TopicWork): Promise<void> {
    const free = this.#options.concurrency - this.#runs.size;
    if (free <= 0 || !topic.mayClaim || this.#isStopping) return;
    const leaseEnd = performance.now() + this.#options.lease;
    const claimed = await topic.claim(free);
    if (claimed.length === 0) return;
    for (const stored of claimed) this.#begin(topic, stored, leaseEnd);
    // The others come first the next time, so that no name keeps them from running.
    this.#topics.splice(this.#topics.indexOf(topic), 1);
    this.#topics.push(topic);
  }

  #begin({ job, handler }: TopicWork, stored: StoredJob, leaseEnd: number): void {
    const { grace } = this.#options;
    const { runTransaction, context } = this.#source;
    const tracing = context.settings.jobTracing;
    const renew = (run: JobRun) => this.#leases.renew(run);
    const run = new JobRun({
      ...{ job, stored, handler, leaseEnd, grace, runTransaction, tracing, renew },
    });
    this.#runs.add(run);
    // The worker was stopped while it took the job.
    if (this.#isReleasing) run.abort(new WorkerStoppedError());
    const ending = this.#run(run).catch((error) => this.#report(error, run.running));
    this.#ending.add(ending);
    void ending.then(() => this.#ending.delete(ending));
  }

  async #run(run: JobRun): Promise<void> {
    const outcome = await run.run();
    this.#runs.delete(run);
    this.#wake();
    if (outcome === undefined) return;
    if (outcome.type === "failed" && this.#options.onError !== undefined)
      this.#report(outcome.error, run.running);
    const { job, row, stored, leaseEnd } = run;
    const isStored = await this.#finished.add({ job, stored, outcome, leaseEnd });
    if (!isStored) this.#report(new JobLostError(job.name, row.id), run.running);
  }

  #fail(error: unknown = new Error("The database was closed.")): void {
    this.#failure ??= error;
    this.#isStopping = true;
    this.#wake();
  }

  #report(error: unknown, job?: RunningJob): void {
    // A renewal may be under way when the worker ends.
    const hasEnded = this.#failure !== undefined || this.#ended.signal.aborted;
    if (hasEnded && isClosedError(error)) return;
    const { onError } = this.#options;
    if (onError === undefined) {
      console.error("A worker of jobs tries again after an error:", error);
      return;
    }
    const fail = (thrown: unknown) =>
      console.error("onError of a worker of jobs has thrown an error:", thrown);
    try {
      // It may be an async function.
      Promise.resolve(onError(error, job) as unknown).catch(fail);
    } catch (thrown) {
      fail(thrown);
    }
  }

  #wake(): void {
    this.#isWoken = true;
    this.#wakeUp?.();
  }

  /** Sleeps until a time, or until the worker is woken. Its timer keeps the process alive. */
  async #sleepUntil(time: number): Promise<void> {
    const milliseconds = Math.min(Math.max(0, time - Date.now()), longestSleep);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wakeUp = undefined;
  }
}

function topicsOf(
  { jobs, context, kv }: WorkSource,
  handlers: unknown,
  lease: number,
): TopicWork[] {
  const fail = (argument: string, reason: string): never => {
    throw new InvalidArgumentError("", argument, reason, "work");
  };
  if (!isPlainObject(handlers)) return fail("handlers", "it must be an object of functions");
  const topics: TopicWork[] = [];
  for (const [name, handler] of Object.entries(handlers as Handlers)) {
    if (handler === undefined) continue;
    const job = jobs.get(name) ?? fail(`handlers.${name}`, "the database has no job of this name");
    assertArgument("", `handlers.${name}`, handler, functionOf(" of a job"), "work");
    const limit = job.rate && rateLimit(kv, [systemPrefix, "job-rate"], job.rate);
    topics.push(new TopicWork(context, job, handler, lease, limit));
  }
  if (topics.length === 0) fail("handlers", "it must have a handler of at least one job");
  return topics;
}

function checkedOptions(options: WorkOptions) {
  const { concurrency = 10, signal, lease = 30_000, grace = 5000, onError } = options;
  assertArgument("", "concurrency", concurrency, positiveInteger, "work");
  if (onError !== undefined) assertArgument("", "onError", onError, functionOf(), "work");
  const leaseTime = assertDuration("lease", lease, "work");
  if (leaseTime < leastLease)
    throw new InvalidArgumentError("", "lease", `it must be at least ${leastLease} ms`, "work");
  const graceTime = assertDuration("grace", grace, "work");
  return { concurrency, signal, lease: leaseTime, grace: graceTime, onError };
}

function assertDuration(argument: string, duration: Duration, call: string): number {
  const milliseconds = durationOf(duration);
  if (milliseconds !== undefined && milliseconds <= longestTimer) return milliseconds;
  const reason = `it must be ${durationText}, and at most 24 days`;
  throw new InvalidArgumentError("", argument, reason, call);
}
