import type { CronDefinition } from "../definition/define-cron.js";
import type { Schedule } from "../schedule/schedule.js";
import type { CronPlan, LastRun, StoredRun } from "../state/cron-records.js";

/**
 * Clocks may differ, and may be set back, by this many milliseconds without a tick being repeated.
 * A plan that is further ahead was made by a clock that was wrong, and is made again.
 */
export const mostAhead = 600_000;

/** What a process knows of a cron. Times are milliseconds since the epoch, by its own clock. */
export interface Situation {
  readonly now: number;
  readonly plan: Pick<CronPlan, "next">;
  readonly run: Pick<StoredRun, "tick" | "attempt" | "retryAt"> | undefined;
  readonly last: Pick<LastRun, "tick" | "endedAt"> | undefined;
  /** Milliseconds until the run that another process has may be taken over. */
  readonly leaseEndsIn: number;
}

/** What a process does next. */
export type Decision =
  /** Reads again after some milliseconds at the latest. */
  | { readonly type: "wait"; readonly milliseconds: number }
  /** Ticks are left out, or the plan was made by a wrong clock. */
  | { readonly type: "plan"; readonly next: number }
  /** Begins an attempt at a tick. `next` is the tick after it, if it is the first attempt. */
  | { readonly type: "begin"; readonly tick: number; readonly attempt: number; next?: number }
  /** The process of a run has ended, and no attempt is left. */
  | { readonly type: "giveUp" };

/** Decides from what is stored, the clock and the options. Reads and writes nothing. */
export function decide(
  { now, plan: { next }, run, last, leaseEndsIn }: Situation,
  definition: Pick<CronDefinition, "missed" | "startWithin" | "mostMissed" | "backoffSchedule">,
  schedule: Schedule,
): Decision {
  if (run?.retryAt !== undefined) {
    const milliseconds = run.retryAt - now;
    const delay = definition.backoffSchedule[run.attempt - 1] ?? 0;
    const isWrong = milliseconds > delay + mostAhead;
    if (milliseconds > 0 && !isWrong) return { type: "wait", milliseconds };
    return { type: "begin", tick: run.tick, attempt: run.attempt + 1 };
  }
  if (run !== undefined) {
    if (leaseEndsIn > 0) return { type: "wait", milliseconds: leaseEndsIn };
    if (run.attempt > definition.backoffSchedule.length) return { type: "giveUp" };
    return { type: "begin", tick: run.tick, attempt: run.attempt + 1 };
  }
  if (next > schedule.after(now + mostAhead)) return { type: "plan", next: schedule.after(now) };
  if (next > now) return { type: "wait", milliseconds: next - now };
  const tick = dueTick({ now, next, last }, definition, schedule);
  if (tick === undefined) return { type: "plan", next: schedule.after(now) };
  return { type: "begin", tick, attempt: 1, next: schedule.after(tick) };
}

/** Returns the tick to run of those that have passed, or undefined if none of them is to run. */
function dueTick(
  { now, next, last }: Pick<Situation, "now" | "last"> & { readonly next: number },
  { missed, startWithin, mostMissed }: Parameters<typeof decide>[1],
  schedule: Schedule,
): number | undefined {
  // The schedule may have been changed by a new version of the time zones.
  const latest = schedule.lastUpTo(now, next) ?? next;
  if (missed === "catchUp") return latest;
  if (missed === "catchUpAll") return schedule.earliestOfLast(mostMissed, now, next);
  // An end that is further ahead was written by a clock that was wrong.
  const hasPassedInRun =
    last !== undefined &&
    latest > last.tick &&
    latest <= last.endedAt &&
    last.endedAt <= now + mostAhead;
  return hasPassedInRun || now - latest > startWithin ? undefined : latest;
}
