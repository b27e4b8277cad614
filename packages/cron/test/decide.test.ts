import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineCron } from "../src/definition/define-cron.js";
import { decide, mostAhead, type Situation } from "../src/run/decide.js";
import { Schedule } from "../src/schedule/schedule.js";

const [second, minute, hour] = [1000, 60_000, 3_600_000];
const noon = Date.parse("2026-01-01T12:00:00Z");
const schedule = "0 * * * *";
const hourly = new Schedule({ schedule, syntax: "crontab", timeZone: "UTC" });
const options = { name: "hourly", schedule, handler: () => undefined, backoffSchedule: [100, 200] };

/** What is decided for an hourly cron that is due at noon, if nothing else is said. */
function decided(
  situation: Partial<Situation>,
  more: Partial<Parameters<typeof defineCron>[0]> = {},
) {
  return decide(
    {
      now: noon,
      plan: { next: noon },
      run: undefined,
      last: undefined,
      leaseEndsIn: 0,
      ...situation,
    },
    defineCron({ ...options, ...more }),
    hourly,
  );
}

const begins = (tick: number, next: number) => ({ type: "begin", tick, attempt: 1, next });

describe("what a cron does next", () => {
  it("is to wait until the tick, and to begin it", () => {
    expect(decided({ now: noon - 5 })).toEqual({ type: "wait", milliseconds: 5 });
    expect(decided({})).toEqual(begins(noon, noon + hour));
    expect(decided({ now: noon + minute })).toEqual(begins(noon, noon + hour));
  });

  it("is to skip what is later than startWithin", () => {
    const late = { now: noon + minute + 1 };
    expect(decided(late)).toEqual({ type: "plan", next: noon + hour });
    expect(decided(late, { startWithin: 2 * minute })).toEqual(begins(noon, noon + hour));
    // Of several ticks, the last one is not late.
    const now = noon + 3 * hour + second;
    expect(decided({ now })).toEqual(begins(noon + 3 * hour, noon + 4 * hour));
  });

  it("is to catch up, once or for each tick", () => {
    const now = noon + 5 * hour + 30 * minute;
    expect(decided({ now }, { missed: "catchUp" })).toEqual(
      begins(noon + 5 * hour, noon + 6 * hour),
    );
    expect(decided({ now }, { missed: "catchUpAll" })).toEqual(begins(noon, noon + hour));
    expect(decided({ now }, { missed: "catchUpAll", mostMissed: 2 })).toEqual(
      begins(noon + 4 * hour, noon + 5 * hour),
    );
  });

  it("is to skip ticks that have passed while the handler ran", () => {
    const situation = {
      now: noon + 10,
      last: { tick: noon - hour, endedAt: noon + 5 },
    };
    expect(decided(situation)).toEqual({ type: "plan", next: noon + hour });
    expect(decided(situation, { missed: "catchUp" })).toEqual(begins(noon, noon + hour));
    // The clock was a day ahead when the last run ended.
    const last = { tick: noon - hour, endedAt: noon + 24 * hour };
    expect(decided({ now: noon + 10, last })).toEqual(begins(noon, noon + hour));
  });

  it("is another attempt, when it is due and if one is left", () => {
    const run = { tick: noon - hour, attempt: 1, retryAt: noon + 50 };
    expect(decided({ run })).toEqual({ type: "wait", milliseconds: 50 });
    expect(decided({ run, now: noon + 50 })).toEqual({
      type: "begin",
      tick: noon - hour,
      attempt: 2,
    });
    const running = { tick: noon - hour, attempt: 2 };
    expect(decided({ run: running, leaseEndsIn: 7 })).toEqual({ type: "wait", milliseconds: 7 });
    expect(decided({ run: running })).toEqual({ type: "begin", tick: noon - hour, attempt: 3 });
    expect(decided({ run: { tick: noon - hour, attempt: 3 } })).toEqual({ type: "giveUp" });
  });

  it("does not repeat a tick if the clock goes back a little, and follows it if it goes back far", () => {
    const plan = { next: noon + hour };
    const little = { now: noon - mostAhead, plan };
    expect(decided(little)).toEqual({ type: "wait", milliseconds: hour + mostAhead });
    expect(decided({ now: noon - mostAhead - second, plan })).toEqual({ type: "plan", next: noon });
    const yearLater = { next: noon + 365 * 24 * hour };
    expect(decided({ plan: yearLater })).toEqual({ type: "plan", next: noon + hour });
    const run = { tick: noon, attempt: 1, retryAt: noon + 365 * 24 * hour };
    expect(decided({ run, plan })).toEqual({ type: "begin", tick: noon, attempt: 2 });
    // The clock was set back by an hour after an attempt that is repeated after some seconds.
    const soon = { tick: noon, attempt: 1, retryAt: noon + hour };
    expect(decided({ run: soon, plan })).toEqual({ type: "begin", tick: noon, attempt: 2 });
  });

  it("runs each tick once, whatever the clocks of the processes say and in which order they look", () => {
    const skew = mostAhead / 2;
    const looks = fc.array(
      fc.record({
        after: fc.integer({ min: 0, max: 5 * minute }),
        clock: fc.integer({ min: 0, max: 3 }),
      }),
      { minLength: 1, maxLength: 60 },
    );
    const clocks = fc.array(fc.integer({ min: -skew, max: skew }), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(looks, clocks, (steps, offsets) => {
        const definition = defineCron({ ...options, missed: "catchUpAll", mostMissed: 1000 });
        let [time, next] = [noon, hourly.after(noon - mostAhead)];
        const first = next;
        const ticks: number[] = [];
        for (const { after, clock } of steps) {
          time += after;
          const situation = { now: time + offsets[clock]!, run: undefined, last: undefined };
          for (;;) {
            const decision = decide(
              { ...situation, plan: { next }, leaseEndsIn: 0 },
              definition,
              hourly,
            );
            if (decision.type === "wait") break;
            if (decision.type !== "begin") throw new Error("a plan was thrown away");
            ticks.push(decision.tick);
            next = decision.next!;
          }
        }
        expect(ticks).toEqual(ticks.map((_, i) => first + i * hour));
      }),
      { numRuns: 30 },
    );
  });
});
