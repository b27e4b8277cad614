import { InvalidOptionError } from "@keywright/core";
import { Schedule, type ScheduleSyntax } from "../schedule/schedule.js";
import type { CronRun } from "./cron-run.js";

/** How ticks are treated at which no process ran the cron. See {@link CronOptions.missed}. */
export type MissedTicks = "skip" | "catchUp" | "catchUpAll";

/**
 * Runs at each tick. If it throws, it runs again by the backoff schedule. What it returns is
 * ignored.
 */
export type CronHandler = (run: CronRun) => unknown;

/** Options of {@link defineCron}. */
export interface CronOptions {
  /** Identifies the cron in the database. Up to 64 letters, digits, spaces, `-` and `_`. */
  readonly name: string;
  /**
   * Five fields as in crontab: minute, hour, day of the month, month, day of the week (0 or 7 is
   * Sunday). With six fields, the first one is the second. `@hourly`, `@daily`, `@weekly`,
   * `@monthly` and `@yearly` are accepted too.
   */
  readonly schedule: string;
  /** The time zone of the schedule, such as `Europe/Berlin`. The default is `UTC`. */
  readonly timeZone?: string;
  /**
   * What happens to ticks that have passed while no process ran the cron, or while its handler ran:
   *
   * - `skip` (the default): nothing. A tick that is at most `startWithin` late is not missed.
   * - `catchUp`: one run makes up for all of them. Its `tick` is the last one.
   * - `catchUpAll`: one run for each of them, oldest first, for the last `mostMissed` ones.
   */
  readonly missed?: MissedTicks;
  /**
   * With `skip`: how late a tick may begin, in milliseconds. The default is 60,000, the least is
   * 1000.
   */
  readonly startWithin?: number;
  /** With `catchUpAll`: how many ticks are made up for at most. The default is 100. */
  readonly mostMissed?: number;
  /**
   * Milliseconds before each new attempt after the handler has thrown. After the last one, the tick
   * is given up. The default is that of `Deno.cron`: 100, 1000, 5000, 30,000 and 60,000.
   */
  readonly backoffSchedule?: readonly number[];
  readonly handler: CronHandler;
}

/** A cron that `runCrons` runs. Made by {@link defineCron}. */
export interface CronDefinition extends Required<CronOptions> {
  readonly syntax: ScheduleSyntax;
}

/** The longest backoff, in milliseconds: an hour, as in Deno. */
const longestBackoff = 3_600_000;

const defaultBackoff = [100, 1000, 5000, 30_000, 60_000];
const mostRetries = 100;
const mostTicks = 1000;
/** No timer is exact, and a busy process may be late. In milliseconds. */
const leastDelay = 1000;
/** A day, in milliseconds. */
const longestDelay = 86_400_000;

/**
 * Defines a cron: what runs when.
 *
 * ```ts
 * const report = defineCron({
 *   name: "daily report",
 *   schedule: "0 6 * * MON-FRI",
 *   timeZone: "Europe/Berlin",
 *   missed: "catchUp",
 *   handler: async ({ tick, signal }) => sendReport(tick, signal),
 * });
 * await runCrons(kv, [report]);
 * ```
 *
 * @throws {CronScheduleError} if the schedule is not valid, or no date fits it.
 * @throws {InvalidOptionError} if another option is not valid.
 */
export function defineCron(options: CronOptions): CronDefinition {
  return completeDefinition({ ...options, syntax: "crontab" }, "defineCron");
}

/** Checks a definition and adds the defaults. `operation` names the call in messages. */
export function completeDefinition(
  options: CronOptions & { readonly syntax: ScheduleSyntax },
  operation: string,
): CronDefinition {
  const { timeZone = "UTC", missed = "skip", startWithin = 60_000, mostMissed = 100 } = options;
  const { name, schedule, syntax, handler, backoffSchedule = defaultBackoff } = options;
  const assert = (isValid: boolean, option: string, reason: string) => {
    if (!isValid) throw new InvalidOptionError(option, reason, operation);
  };
  assert(
    typeof name === "string" && /^[a-z\d\s_-]{1,64}$/i.test(name),
    "name",
    "must be 1 to 64 letters, digits, spaces, hyphens and underscores",
  );
  assert(typeof handler === "function", "handler", "must be a function");
  assert(
    ["skip", "catchUp", "catchUpAll"].includes(missed),
    "missed",
    'must be "skip", "catchUp" or "catchUpAll"',
  );
  assert(
    startWithin >= leastDelay && startWithin <= longestDelay,
    "startWithin",
    `must be a number of milliseconds from ${leastDelay} to ${longestDelay}`,
  );
  assert(
    Number.isInteger(mostMissed) && mostMissed >= 1 && mostMissed <= mostTicks,
    "mostMissed",
    `must be a whole number from 1 to ${mostTicks}`,
  );
  assert(
    Array.isArray(backoffSchedule) &&
      backoffSchedule.length <= mostRetries &&
      backoffSchedule.every((delay) => delay >= 0 && delay <= longestBackoff),
    "backoffSchedule",
    `must be a list of at most ${mostRetries} numbers of milliseconds from 0 to ${longestBackoff}`,
  );
  assert(isTimeZone(timeZone), "timeZone", "must be a time zone, such as Europe/Berlin");
  // Throws if the schedule is not valid.
  new Schedule({ schedule, syntax, timeZone });
  return {
    ...{ name, schedule, syntax, timeZone, missed, startWithin, mostMissed },
    backoffSchedule: [...backoffSchedule],
    handler,
  };
}

function isTimeZone(name: unknown): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name as string });
    return typeof name === "string";
  } catch {
    return false;
  }
}
