import { describe, expect, it } from "vitest";
import { Schedule } from "../src/schedule/schedule.js";
import { type CronSchedule, fieldsOfSchedule } from "../src/schedule/schedule-objects.js";

const deno = (schedule: string) => new Schedule({ schedule, syntax: "deno", timeZone: "UTC" });
const from = Date.parse("2026-01-01T00:00:00Z");
const next = (schedule: string) => new Date(deno(schedule).after(from)).toISOString();

describe("a schedule of Deno", () => {
  // What Deno 2.9.6 accepts and refuses.
  it.each([
    "* * * * *",
    "0 0 * * 7",
    "0 0 * * SUN",
    "0 0 * * sun-fri",
    "0 0 L * *",
    "0 0 LW * *",
    "0 0 15W * *",
    "0 0 * * 2#1",
    "0 0 * * 2L",
    "5/10 * * * *",
    "10-5 * * * *",
    "0 0 * * FRI-MON",
    "0  0 1 1 *",
    "0 0 31 * *",
    "*/59 * * * *",
  ])("%s is accepted", (text) => {
    expect(deno(text).after(from)).toBeGreaterThan(from);
  });

  it.each([
    "* * * * * *",
    "@daily",
    "0 0 * * 0",
    "0 0 ? * *",
    "/10 * * * *",
    "60 * * * *",
    "bogus",
    "",
  ])("%s is refused", (text) => {
    expect(() => deno(text)).toThrow(expect.objectContaining({ code: "KW_CRON_SCHEDULE_INVALID" }));
  });

  it("counts the days of the week from Sunday as 1", () => {
    expect(new Date(next("0 0 * * 1")).getUTCDay()).toBe(0);
    expect(new Date(next("0 0 * * 7")).getUTCDay()).toBe(6);
    expect(new Date(next("0 0 * * MON")).getUTCDay()).toBe(1);
  });

  it("may have ranges that begin after their end", () => {
    const days = deno("0 0 * * FRI-MON");
    const found: number[] = [];
    for (let time = from; found.length < 8; found.push(new Date(time).getUTCDay()))
      time = days.after(time);
    // 1 January 2026 is a Thursday.
    expect(found).toEqual([5, 6, 0, 1, 5, 6, 0, 1]);
  });

  it.each<[CronSchedule, string]>([
    [{ hour: { every: 6 } }, "0 */6 * * *"],
    [{ minute: { start: 5 } }, "5/1 * * * *"],
    [{ minute: { start: 1, end: 9, every: 2 } }, "1-9/2 * * * *"],
    [{ minute: { start: 10, every: 20 } }, "10/20 * * * *"],
    [{ minute: { start: 1, end: 9 } }, "1-9 * * * *"],
    [{ minute: { exact: [1, 2] } }, "1,2 * * * *"],
    [{ minute: { exact: 7 } }, "7 * * * *"],
    [{}, "* * * * *"],
    [{ month: 3 }, "0 0 1 3 *"],
    [{ dayOfWeek: 1 }, "0 0 * * 1"],
    [{ dayOfMonth: { every: 2 } }, "0 0 */2 * *"],
    [{ month: { every: 3 }, dayOfWeek: 2 }, "0 0 * */3 2"],
    [{ hour: 0, month: 3 }, "0 0 * 3 *"],
  ])("%j is %s", (schedule, fields) => {
    expect(fieldsOfSchedule(schedule)).toBe(fields);
    expect(deno(fields).after(from)).toBeGreaterThan(from);
  });

  it.each<[CronSchedule]>([[{ minute: { end: 5 } }], [{ minute: {} }]])(
    "%j is refused",
    (schedule) => {
      expect(() => fieldsOfSchedule(schedule)).toThrow(TypeError);
    },
  );
});
