import type { AtomicOperation, KvKey } from "@keywright/core";

/** One run of a cron, as its handler gets it. */
export interface CronRun {
  /** The name of the cron. */
  readonly name: string;
  /** The time at which the cron was due. */
  readonly tick: Date;
  /** 1 for the first attempt at this tick. */
  readonly attempt: number;
  /** Aborted when `runCrons` is told to end, or when the run is lost to another process. */
  readonly signal: AbortSignal;
  /**
   * A check for `atomic().check(…)`: it holds only as long as this run has the tick. If the handler
   * was stopped for a while and another process has taken over its run, a commit with this check
   * fails.
   */
  readonly check: { readonly key: KvKey; readonly versionstamp: string };
  /**
   * Is committed together with the end of the run, so what the handler adds to it happens exactly
   * once for each tick, also if processes are killed. If the handler throws, it is dropped. If one
   * of its checks fails, nothing is written, and the handler runs again by the backoff schedule.
   */
  readonly completion: Omit<AtomicOperation, "commit">;
}
