/** One field of a schedule of Deno, such as `{ every: 6 }`. */
export type CronScheduleExpression =
  | number
  | { exact: number | number[] }
  | { start?: number; end?: number; every?: number };

/** A schedule of Deno as an object, such as `{ hour: { every: 6 } }`. */
export interface CronSchedule {
  minute?: CronScheduleExpression;
  hour?: CronScheduleExpression;
  dayOfMonth?: CronScheduleExpression;
  month?: CronScheduleExpression;
  /** 1 is Sunday, 7 is Saturday. */
  dayOfWeek?: CronScheduleExpression;
}

/**
 * Returns the five fields of a schedule object, by the rules of Deno: fields that are smaller than
 * the smallest that is there are 0 (or 1 for the day of the month), all others are `*`.
 *
 * @throws {TypeError} if a field has neither a beginning nor a step.
 */
export function fieldsOfSchedule(schedule: CronSchedule): string {
  let { minute, hour, dayOfMonth } = schedule;
  const { month, dayOfWeek } = schedule;
  if (minute === undefined) {
    if (hour !== undefined) minute = 0;
    else if (dayOfMonth !== undefined || dayOfWeek !== undefined) [minute, hour] = [0, 0];
    else if (month !== undefined) [minute, hour, dayOfMonth] = [0, 0, 1];
  }
  return [minute, hour, dayOfMonth, month, dayOfWeek].map(textOf).join(" ");
}

function textOf(field: CronScheduleExpression | undefined): string {
  if (field === undefined) return "*";
  if (typeof field === "number") return `${field}`;
  if ("exact" in field && field.exact !== undefined) return [field.exact].flat().join(",");
  const { start, end, every } = field as { start?: number; end?: number; every?: number };
  if (start === undefined && end === undefined && every !== undefined) return `*/${every}`;
  if (start === undefined)
    throw new TypeError(
      `Invalid cron schedule: start=${start}, end=${end}, every=${every}. Pass start, every or exact.`,
    );
  if (end === undefined) return `${start}/${every ?? 1}`;
  return every === undefined ? `${start}-${end}` : `${start}-${end}/${every}`;
}
