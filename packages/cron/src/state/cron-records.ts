import { DatabaseFormatError, type Kv, type KvEntryMaybe } from "@keywright/core";
import type { ScheduleText } from "../schedule/schedule.js";
import { type CronKeys, keysOf } from "./cron-keys.js";

/** The number of the format of all records. Times are milliseconds since the epoch. */
export const recordFormat = 1;

/** Which tick comes next. */
export interface CronPlan extends ScheduleText {
  readonly format: typeof recordFormat;
  /** The first tick that no process has begun or skipped. */
  readonly next: number;
}

/** The tick that runs, or that waits for another attempt. */
export interface StoredRun {
  readonly format: typeof recordFormat;
  readonly tick: number;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The time of the next attempt if the last one has failed. Undefined while it runs. */
  readonly retryAt?: number;
  /** Identifies the call of `runCrons` that runs it. */
  readonly runner: string;
  readonly host: string;
  readonly pid: number;
  readonly begunAt: number;
  /** The message of the error of the last attempt. */
  readonly error?: string;
}

/** A lease. Others take over its run if the entry has not changed for its milliseconds. */
export interface StoredLease {
  readonly format: typeof recordFormat;
  readonly milliseconds: number;
}

/** How the last tick has ended, and how many there were. */
export interface LastRun {
  readonly format: typeof recordFormat;
  readonly tick: number;
  readonly attempt: number;
  readonly begunAt: number;
  readonly endedAt: number;
  /** The message of the error of the last attempt, if the tick was given up. */
  readonly error?: string;
  readonly runner: string;
  readonly succeeded: number;
  readonly failed: number;
}

/** All entries of a cron, read from one snapshot. */
export interface CronState {
  readonly plan: KvEntryMaybe<CronPlan>;
  readonly run: KvEntryMaybe<StoredRun>;
  readonly lease: KvEntryMaybe<StoredLease>;
  readonly last: KvEntryMaybe<LastRun>;
}

/** @throws {DatabaseFormatError} if a later version has written an entry. */
export async function readState(
  kv: Kv,
  name: string,
  keys: CronKeys = keysOf(name),
): Promise<CronState> {
  const [plan, run, lease, last] = await kv.getMany<[CronPlan, StoredRun, StoredLease, LastRun]>([
    keys.plan,
    keys.run,
    keys.lease,
    keys.last,
  ]);
  for (const { value } of [plan, run, lease, last])
    if (value !== null && value.format !== recordFormat)
      throw new DatabaseFormatError(`the cron ${name} has the unknown format ${value.format}`);
  return { plan, run, lease, last };
}
