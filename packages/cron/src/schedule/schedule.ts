import { Cron, type CronOptions } from "croner";
import { CronScheduleError } from "../errors/cron-errors.js";
import { unwrapRanges } from "./unwrap-ranges.js";

/**
 * How a schedule is written: with Sunday as 0 or 7, as in crontab, or with Sunday as 1, as in
 * `Deno.cron`.
 */
export type ScheduleSyntax = "crontab" | "deno";

/** A schedule as data. It is stored with the cron. */
export interface ScheduleText {
  readonly schedule: string;
  readonly syntax: ScheduleSyntax;
  /** The name of a time zone, such as `Europe/Berlin`. */
  readonly timeZone: string;
}

/** The steps of a search between two times, in milliseconds. Fields are whole seconds. */
const resolution = 1000;

/** The first stretch in which the last times are looked for, in milliseconds. */
const shortestStretch = 60_000;

const optionsOf: Record<ScheduleSyntax, CronOptions> = {
  crontab: { mode: "5-or-6-parts" },
  deno: { mode: "5-part", alternativeWeekdays: true, sloppyRanges: true },
};

/** The times at which a cron is due. All times are milliseconds since the epoch. */
export class Schedule {
  readonly #cron: Cron;

  /** @throws {CronScheduleError} if the schedule is not valid, or never comes. */
  constructor({ schedule, syntax, timeZone }: ScheduleText) {
    const refuse = (reason: string, cause?: unknown) =>
      new CronScheduleError(schedule, reason, cause);
    if (typeof schedule !== "string") throw refuse("it is not a text");
    const fields = schedule.trim().split(/\s+/);
    const isCrontab = syntax === "crontab";
    const isNickname = isCrontab && /^@[a-z]+$/i.test(schedule);
    // The parser also reads dates.
    if (!isNickname && fields.length !== 5 && !(isCrontab && fields.length === 6))
      throw refuse(`it has ${fields.length === 1 ? "one field" : `${fields.length} fields`}`);
    if (syntax === "deno" && fields.some((field) => field.includes("?") || field.startsWith("/")))
      throw refuse("Deno knows neither ? nor a step without a beginning");
    try {
      const pattern = syntax === "deno" ? unwrapRanges(fields).join(" ") : schedule;
      this.#cron = new Cron(pattern, {
        ...optionsOf[syntax],
        timezone: timeZone,
        paused: true,
        // A list of hours is a fixed time too, so none of them is lost when clocks are changed.
        fixedTimeRule: "no-wildcard",
      });
      this.#cron.nextRun(new Date(0));
    } catch (error) {
      const reason = (error as Error).message.replaceAll(/^Cron\w+: |\.$/g, "");
      throw refuse(reason.charAt(0).toLowerCase() + reason.slice(1), error);
    }
    if (this.#cron.nextRun(new Date()) === null) throw refuse("no date has such a day and month");
  }

  /** Returns the first time after `time`. */
  after(time: number): number {
    return this.#cron.nextRun(new Date(time))!.getTime();
  }

  /** Returns the last time up to `now`, if there is one that is not before `first`. */
  lastUpTo(now: number, first: number): number | undefined {
    let found = this.after(first - 1);
    if (found > now) return undefined;
    // Halves the stretch in which the last one is.
    let [low, high] = [found, now];
    while (high - low > resolution) {
      const middle = Math.floor((low + high) / 2);
      const next = this.after(middle);
      if (next > now) high = middle;
      else low = found = next;
    }
    for (let next = this.after(low); next <= now; next = this.after(next)) found = next;
    return found;
  }

  /** Returns the first of the last `count` times up to `now`, or `first` if that is later. */
  earliestOfLast(count: number, now: number, first: number): number {
    // A rare schedule has its last times centuries ago, so the search ends at `first`.
    for (let stretch = shortestStretch; ; stretch *= 2) {
      const from = Math.max(first, now - stretch);
      const times: number[] = [];
      for (let next = this.after(from - 1); next <= now; next = this.after(next)) times.push(next);
      if (times.length >= count) return times.at(-count)!;
      if (from === first) return first;
    }
  }
}
