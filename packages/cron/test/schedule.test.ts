import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Schedule } from "../src/schedule/schedule.js";

const minute = 60_000;
const at = (text: string) => Date.parse(text);
const crontab = (schedule: string, timeZone = "UTC") =>
  new Schedule({ schedule, syntax: "crontab", timeZone });

/** Returns the first times after a time. */
function timesAfter(schedule: Schedule, from: string, count: number): string[] {
  const times: string[] = [];
  for (let time = schedule.after(at(from)); times.length < count; time = schedule.after(time))
    times.push(new Date(time).toISOString().replace(":00.000Z", "Z"));
  return times;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns minute, hour, day, month and day of the week of a time in a zone. */
function localFields(time: number, timeZone: string): number[] {
  const options = { month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" } as const;
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat("en-US", { ...options, timeZone, year: "numeric", hourCycle: "h23" });
  formats.set(timeZone, format);
  const parts = Object.fromEntries(
    format.formatToParts(time).map(({ type, value }) => [type, Number(value)]),
  );
  const { year, month, day, hour, minute } = parts as Record<string, number>;
  const weekday = new Date(Date.UTC(year!, month! - 1, day)).getUTCDay();
  return [minute!, hour!, day!, month!, weekday];
}

/** A field of a schedule and the values that it stands for. */
interface Field {
  readonly text: string;
  readonly has: (value: number) => boolean;
}

function fieldOf(min: number, max: number): fc.Arbitrary<Field> {
  const value = fc.integer({ min, max });
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant({ text: "*", has: () => true }) },
    fc.integer({ min: 2, max: 12 }).map((step) => ({
      text: `*/${Math.min(step, max)}`,
      has: (each: number) => (each - min) % Math.min(step, max) === 0,
    })),
    fc.uniqueArray(value, { minLength: 1, maxLength: 4 }).map((values) => ({
      text: values.join(","),
      has: (each: number) => values.includes(each),
    })),
    fc.tuple(value, value).map((ends) => {
      const [first, last] = ends.toSorted((a, b) => a - b) as [number, number];
      const has = (each: number) => each >= first && each <= last;
      return { text: `${first}-${last}`, has };
    }),
  );
}

const zones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"];
// The minute is a wildcard or a step, so each local minute that fits is a tick.
const anySchedule = fc.record({
  fields: fc.tuple(
    fc.constantFrom("*", "*/7", "*/15").map((text) => ({
      text,
      has: (each: number) => each % Number(text.slice(2) || 1) === 0,
    })),
    fieldOf(0, 23),
    fieldOf(1, 31),
    fieldOf(1, 12),
    fieldOf(0, 6),
  ),
  timeZone: fc.constantFrom(...zones),
  // Most times are on the day before a change of clocks in one of these zones.
  from: fc.oneof(
    fc
      .record({
        change: fc.constantFrom(
          "2026-03-08",
          "2026-03-29",
          "2026-04-05",
          "2026-10-04",
          "2026-10-25",
        ),
        before: fc.integer({ min: 0, max: 1440 }),
      })
      .map(({ change, before }) => at(`${change}T08:00:00Z`) / minute - before),
    fc.integer({
      min: at("2025-01-01T00:00:00Z") / minute,
      max: at("2029-01-01T00:00:00Z") / minute,
    }),
  ),
});

describe("a schedule", () => {
  it("comes at each minute whose fields fit, in every time zone and across clock changes", () => {
    fc.assert(
      fc.property(anySchedule, ({ fields, timeZone, from }) => {
        const text = fields.map((field) => field.text).join(" ");
        let schedule: Schedule;
        try {
          schedule = crontab(text, timeZone);
        } catch {
          // Such as the 31st of a month that has 30 days.
          return;
        }
        const isDue = (time: number) => {
          const values = localFields(time, timeZone);
          const fits = fields.map((field, i) => field.has(values[i]!));
          const [day, weekday] = [fits[2]!, fits[4]!];
          const isEither = fields[2].text !== "*" && fields[4].text !== "*";
          return fits[0]! && fits[1]! && fits[3]! && (isEither ? day || weekday : day && weekday);
        };
        const found = schedule.after(from * minute);
        expect(isDue(found)).toBe(true);
        // A day is enough to see a change of clocks.
        const end = Math.min(found, (from + 1500) * minute);
        for (let time = (from + 1) * minute; time < end; time += minute)
          expect([text, timeZone, new Date(time).toISOString(), isDue(time)]).toContain(false);
      }),
      { numRuns: 60 },
    );
  });

  it("at a fixed time runs once on the days on which clocks change", () => {
    const daily = crontab("30 2 * * *", "Europe/Berlin");
    // 02:30 does not exist on 29 March, and exists twice on 25 October.
    expect(timesAfter(daily, "2026-03-28T00:00:00Z", 3)).toEqual([
      "2026-03-28T01:30Z",
      "2026-03-29T01:00Z",
      "2026-03-30T00:30Z",
    ]);
    expect(timesAfter(daily, "2026-10-24T12:00:00Z", 2)).toEqual([
      "2026-10-25T00:30Z",
      "2026-10-26T01:30Z",
    ]);
    const twiceADay = crontab("30 2,14 * * *", "Europe/Berlin");
    expect(timesAfter(twiceADay, "2026-03-28T20:00:00Z", 2)).toEqual([
      "2026-03-29T01:00Z",
      "2026-03-29T12:30Z",
    ]);
    expect(timesAfter(twiceADay, "2026-10-24T20:00:00Z", 2)).toEqual([
      "2026-10-25T00:30Z",
      "2026-10-25T13:30Z",
    ]);
  });

  it("with a step keeps its distance on these days", () => {
    const half = crontab("*/30 * * * *", "Europe/Berlin");
    const hours = [0, 1, 2].flatMap((hour) => [`0${hour}:00Z`, `0${hour}:30Z`]);
    for (const day of ["2026-03-29", "2026-10-25"])
      expect(timesAfter(half, `${day}T00:00:00Z`, 5)).toEqual(
        hours.slice(1).map((hour) => `${day}T${hour}`),
      );
  });

  it("finds the last time up to a time, and the first of the last ones", () => {
    const start = at("2026-01-01T00:00:00Z");
    fc.assert(
      fc.property(
        fc.constantFrom("*/5 * * * *", "0 3 * * *", "10-20 4 * * 1", "0 0 1 * *", "* * 1 * *"),
        fc.constantFrom(...zones),
        fc.integer({ min: 0, max: 100_000 }),
        fc.integer({ min: 0, max: 3000 }),
        fc.integer({ min: 1, max: 20 }),
        (text, zone, first, length, count) => {
          const schedule = crontab(text, zone);
          const from = schedule.after(start + first * minute);
          const now = from + length * minute + 12_345;
          const all: number[] = [];
          for (let time = from; time <= now; time = schedule.after(time)) all.push(time);
          expect(schedule.lastUpTo(now, from)).toBe(all.at(-1));
          expect(schedule.earliestOfLast(count, now, from)).toBe(all.at(-count) ?? from);
          expect(schedule.lastUpTo(from - 1, from)).toBeUndefined();
        },
      ),
      { numRuns: 30 },
    );
  });

  it("looks for the last times of a rare schedule only from the first one on", () => {
    const first = Date.UTC(2024, 1, 29);
    const schedule = new Schedule({ schedule: "0 0 29 2 *", syntax: "crontab", timeZone: "UTC" });
    expect(schedule.earliestOfLast(1000, Date.UTC(2025, 0, 1), first)).toBe(first);
    expect(schedule.earliestOfLast(2, Date.UTC(2037, 0, 1), first)).toBe(Date.UTC(2032, 1, 29));
  });

  it.each([
    ["* * * *", "it has 4 fields"],
    ["bogus", "it has one field"],
    ["2026-01-01T00:00:00", "it has one field"],
    ["* * * * * * *", "it has 7 fields"],
    ["60 * * * *", "invalid value for minute: 60"],
    ["0 0 30 2 *", "no date has such a day and month"],
  ])("%s is refused: %s", (text, reason) => {
    expect(() => crontab(text)).toThrow(
      expect.objectContaining({ code: "KW_CRON_SCHEDULE_INVALID", schedule: text, reason }),
    );
  });

  it("may have seconds or a nickname", () => {
    expect(crontab("*/10 * * * * *").after(at("2026-01-01T00:00:00Z"))).toBe(
      at("2026-01-01T00:00:10Z"),
    );
    expect(timesAfter(crontab("@daily"), "2026-01-01T00:00:00Z", 1)).toEqual(["2026-01-02T00:00Z"]);
  });
});
