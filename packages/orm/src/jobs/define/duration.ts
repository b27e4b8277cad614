type Unit =
  | "ms"
  | "s"
  | "m"
  | "h"
  | "d"
  | "millisecond"
  | "milliseconds"
  | "second"
  | "seconds"
  | "minute"
  | "minutes"
  | "hour"
  | "hours"
  | "day"
  | "days"
  | "week"
  | "weeks";

/** Milliseconds, or a number with its unit: `"30 seconds"`, `"1 day"`, `"5m"`. */
export type Duration = number | `${number} ${Unit}` | `${number}${Unit}`;

const milliseconds: Readonly<Record<Unit, number>> = {
  ms: 1,
  millisecond: 1,
  milliseconds: 1,
  s: 1000,
  second: 1000,
  seconds: 1000,
  m: 60_000,
  minute: 60_000,
  minutes: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  hours: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  days: 86_400_000,
  week: 604_800_000,
  weeks: 604_800_000,
};

/** Returns a duration in milliseconds. Undefined if it is not one. */
export function durationOf(duration: unknown): number | undefined {
  if (typeof duration === "number")
    return duration >= 0 && duration <= longestDuration ? duration : undefined;
  const [, amount, unit] = /^(\d+(?:\.\d+)?) ?([a-z]+)$/.exec(String(duration)) ?? [];
  if (unit === undefined || !Object.hasOwn(milliseconds, unit)) return undefined;
  return durationOf(Number(amount) * milliseconds[unit as Unit]);
}

/** The longest delay of a timer, in milliseconds. It is 24 days. */
export const longestTimer: number = 2 ** 31 - 1;

/** A thousand years, so that times stay those of a `Date`. */
const longestDuration = 1000 * 366 * 86_400_000;

export const durationText = 'a number of milliseconds from 0, or a text such as "30 seconds"';
