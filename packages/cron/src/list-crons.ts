import type { Kv, KvLike } from "@keywright/core";
import { cronPrefix, keysOf } from "./state/cron-keys.js";
import { type CronPlan, readState } from "./state/cron-records.js";

/** A cron as it is stored. */
export interface CronStatus {
  readonly name: string;
  readonly schedule: string;
  readonly timeZone: string;
  /** The first tick that no process has begun or skipped. */
  readonly next: Date;
  /** The tick that runs now, or that waits for another attempt. */
  readonly run: CronRunStatus | undefined;
  /** How the last tick has ended. */
  readonly last: CronLastStatus | undefined;
  /** How many ticks have succeeded, and how many were given up. */
  readonly succeeded: number;
  readonly failed: number;
}

/** A tick that runs, or that waits for another attempt. */
export interface CronRunStatus {
  readonly tick: Date;
  readonly attempt: number;
  readonly begunAt: Date;
  /** The time of the next attempt, if the last one has failed. */
  readonly retryAt: Date | undefined;
  /** The message of the error of the last attempt. */
  readonly error: string | undefined;
  /** The process that runs it, or that made the last attempt. */
  readonly host: string;
  readonly pid: number;
}

/** The end of a tick. */
export interface CronLastStatus {
  readonly tick: Date;
  readonly attempt: number;
  readonly begunAt: Date;
  readonly endedAt: Date;
  /** The message of the error of the last attempt, if the tick was given up. */
  readonly error: string | undefined;
}

/** Returns all crons that were ever run with a database, in the order of their names. */
export async function listCrons(database: KvLike): Promise<CronStatus[]> {
  const kv = database as Kv;
  const names: string[] = [];
  for await (const { key } of kv.list<CronPlan>({ prefix: cronPrefix }))
    if (key.length === 4 && key[3] === "plan") names.push(key[2] as string);
  const crons = await Promise.all(names.map((name) => statusOf(kv, name)));
  return crons.filter((cron) => cron !== undefined);
}

async function statusOf(kv: Kv, name: string): Promise<CronStatus | undefined> {
  const { plan, run, last } = await readState(kv, name);
  if (plan.value === null) return undefined;
  const { schedule, timeZone, next } = plan.value;
  const { succeeded = 0, failed = 0 } = last.value ?? {};
  return {
    ...{ name, schedule, timeZone, next: new Date(next), succeeded, failed },
    run: run.value === null ? undefined : runStatus(run.value),
    last: last.value === null ? undefined : lastStatus(last.value),
  };
}

type Stored = Awaited<ReturnType<typeof readState>>;

function runStatus(run: NonNullable<Stored["run"]["value"]>): CronRunStatus {
  const { tick, attempt, begunAt, retryAt, error, host, pid } = run;
  return {
    ...{ tick: new Date(tick), attempt, begunAt: new Date(begunAt), error, host, pid },
    retryAt: retryAt === undefined ? undefined : new Date(retryAt),
  };
}

function lastStatus(last: NonNullable<Stored["last"]["value"]>): CronLastStatus {
  const { tick, attempt, begunAt, endedAt, error } = last;
  return {
    ...{ tick: new Date(tick), attempt, error },
    ...{ begunAt: new Date(begunAt), endedAt: new Date(endedAt) },
  };
}

/**
 * Forgets a cron that no program runs any more, with its counts. If a program runs it, it begins
 * again with the next tick.
 */
export async function removeCron(database: KvLike, name: string): Promise<void> {
  const { plan, run, lease, last } = keysOf(name);
  await (database as Kv).atomic().delete(plan).delete(run).delete(lease).delete(last).commit();
}
