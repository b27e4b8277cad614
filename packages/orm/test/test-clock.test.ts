import { afterEach, expect, it } from "vitest";
import * as z from "zod";
import { defineModel } from "../src/index.js";
import { type TestClock, testClock, testDatabase } from "../src/testing.js";

const Session = defineModel({
  name: "sessions",
  schema: z.object({
    id: z.string(),
    user: z.string(),
    createdAt: z.date().default(() => new Date()),
    updatedAt: z.date().default(() => new Date()),
    seenAt: z.date().default(() => new Date()),
  }),
  primaryKey: "id",
  indexes: { byUser: { key: "user", count: true } },
  timestamps: true,
  count: true,
});

const models = { sessions: Session };
const start = Date.UTC(2026, 0, 1);
const minute = 60_000;

let clock: TestClock | undefined;

afterEach(() => clock?.restore());

it("stops the time, and moves it", async () => {
  const [RealDate, realSetTimeout] = [Date, setTimeout];
  clock = testClock("2026-01-01T00:00:00Z");
  const text = new Date().toISOString();
  expect([Date.now(), Date.parse(text), clock.time]).toEqual([start, start, start]);
  await clock.advance(1500);
  expect(Date.now()).toBe(start + 1500);
  await clock.set(new Date(5));
  expect([Date.now(), new Date(7).getTime()]).toEqual([5, 7]);
  expect(new Date()).toBeInstanceOf(Date);
  expect(new RealDate(1)).toBeInstanceOf(Date);
  expect(new RealDate(1).constructor).toBe(Date);
  expect(structuredClone(new Date())).toEqual(new RealDate(5));
  expect(Date()).toBe(new RealDate(5).toString());
  clock.restore();
  clock.restore();
  expect([Date, setTimeout]).toEqual([RealDate, realSetTimeout]);
  expect(new Date().constructor).toBe(Date);
  expect(Date.now()).toBeGreaterThan(start);
});

it("lets rows expire, with their index entries and counts", async () => {
  clock = testClock(start);
  await using db = await testDatabase(models);
  await db.sessions.create({ data: { id: "a", user: "ada" }, expireIn: minute });
  await db.sessions.create({ data: { id: "b", user: "ada" }, expireIn: 3 * minute });
  const seen = async () => {
    const { items } = await db.sessions.findMany({ where: { user: "ada" } });
    const counts = [await db.sessions.count(), await db.sessions.count({ where: { user: "ada" } })];
    return [items.map(({ id }) => id), ...counts];
  };
  expect(await seen()).toEqual([["a", "b"], 2, 2]);
  await clock.advance(minute - 1);
  expect(await seen()).toEqual([["a", "b"], 2, 2]);
  await clock.advance(1);
  expect(await seen()).toEqual([["b"], 1, 1]);
  await clock.advance(60 * minute);
  expect(await seen()).toEqual([[], 0, 0]);
});

it("is the time of timestamps and of defaults", async () => {
  clock = testClock(start);
  await using db = await testDatabase(models);
  const row = await db.sessions.create({ data: { id: "a", user: "ada" } });
  expect([row.createdAt, row.updatedAt, row.seenAt].map(Number)).toEqual([start, start, start]);
  await clock.advance(minute);
  const changed = await db.sessions.update({ where: { id: "a" }, data: { user: "bob" } });
  expect([changed.createdAt, changed.updatedAt].map(Number)).toEqual([start, start + minute]);
  expect(await db.sessions.findUnique({ where: { id: "a" } })).toEqual(changed);
});

it("delivers delayed messages when their time has come", async () => {
  clock = testClock(start);
  await using db = await testDatabase(models);
  const received: (readonly [unknown, number])[] = [];
  const listening = db.kv.listenQueue((message) => {
    received.push([message, Date.now() - start]);
  });
  await db.kv.enqueue("late", { delay: 60 * minute });
  await db.kv.enqueue("early", { delay: 10 * minute });
  await clock.advance(9 * minute);
  expect(received).toEqual([]);
  await clock.advance(2 * minute);
  await clock.advance(100 * minute);
  expect(received.map(([message]) => message)).toEqual(["early", "late"]);
  expect(received[0]![1]).toBeLessThanOrEqual(11 * minute);
  await db.close();
  await listening;
});

it("reports to a live query that a row has expired", async () => {
  clock = testClock(start);
  await using db = await testDatabase(models);
  await db.sessions.create({ data: { id: "a", user: "ada" }, expireIn: minute });
  const reports = db.sessions.watchMany({ where: { user: "ada" } });
  const sizes: number[] = [];
  for await (const rows of reports) {
    sizes.push(rows.length);
    if (sizes.length === 1) void clock.advance(minute);
    else break;
  }
  expect(sizes).toEqual([1, 0]);
});

it("runs timers in the order of their times, and not those that were cleared", async () => {
  clock = testClock(0);
  const ran: (readonly [string, number])[] = [];
  const note = (name: string) => ran.push([name, Date.now()]);
  setTimeout(note, 5 * minute, "second");
  setTimeout(() => {
    note("first");
    setTimeout(note, minute, "nested");
  }, minute);
  clearTimeout(setTimeout(note, minute, "cleared"));
  setTimeout(note, 60 * minute, "late").unref();
  await clock.advance(10 * minute);
  expect(ran).toEqual([
    ["first", minute],
    ["nested", 2 * minute],
    ["second", 5 * minute],
  ]);
  // A timer also runs when its delay has really passed, so that nothing waits forever.
  await new Promise((resolve) => setTimeout(resolve, 1));
});

it("refuses a second clock, and times that are none", async () => {
  clock = testClock(start);
  expect(() => testClock()).toThrow("another clock is in use");
  await expect(clock.advance(-1)).rejects.toThrow("a number from 0");
  await expect(clock.set("soon")).rejects.toThrow("a valid date");
  clock.restore();
  expect(() => testClock(Number.NaN)).toThrow("a valid date");
  {
    using other = testClock(start);
    expect(Date.now()).toBe(other.time);
  }
  expect(Date.now()).toBeGreaterThan(start);
});
