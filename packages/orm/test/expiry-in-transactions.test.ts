import { openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  defineModel,
  hasMany,
  TransactionConflictError,
} from "../src/index.js";

const Flight = defineModel({
  name: "flights",
  schema: z.object({ id: z.string() }),
  primaryKey: "id",
  relations: { seats: hasMany("seats", "flight") },
});

const Seat = defineModel({
  name: "seats",
  schema: z.object({ id: z.string(), flight: z.string(), price: z.int(), name: z.string() }),
  primaryKey: "id",
  count: true,
  indexes: {
    byFlight: { key: "flight", count: true, sum: ["price"], min: ["price"], max: ["price"] },
    byName: { key: "name", unique: true },
    byPrice: { key: ["flight", "price"], count: true },
  },
  relations: { of: belongsTo("flights", "flight") },
});

const Log = defineModel({
  name: "log",
  schema: z.object({ id: z.string(), seen: z.any() }),
  primaryKey: "id",
});

const open = async () => {
  const kv = await openKv();
  const db = await createDatabase({ kv, models: { flights: Flight, seats: Seat, log: Log } });
  return { kv, db };
};
type Database = Awaited<ReturnType<typeof open>>["db"];
type Tx = Parameters<Parameters<Database["transaction"]>[0]>[0];

let kv: Awaited<ReturnType<typeof open>>["kv"];
let db: Database;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_800_000_000_000 });
  ({ kv, db } = await open());
  await db.flights.createMany({ data: [{ id: "f" }, { id: "g" }] });
  await db.seats.create({ data: seat("held"), expireIn: 1000 });
  await db.seats.create({ data: seat("other", "g"), expireIn: 1500 });
  await db.seats.create({ data: seat("booked") });
});
afterEach(async () => {
  await kv.close();
  vi.useRealTimers();
});

const passes = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);
const seat = (id: string, flight = "f") => ({ id, flight, price: id.length, name: `of ${id}` });
const f = { flight: "f" };
/** What passes while a transaction runs includes the transactions of others. */
const others = { allowOutsideWrites: true };

/** What a transaction may read of the row `held`, which then expires. */
const reads: Record<string, (tx: Tx) => Promise<unknown>> = {
  findUnique: (tx) => tx.seats.findUnique({ where: { id: "held" } }),
  "findUnique by a unique index": (tx) => tx.seats.findUnique({ where: { name: "of held" } }),
  findMany: (tx) => tx.seats.findMany({ where: f }),
  filter: (tx) => tx.seats.findMany({ where: f, filter: ({ price }) => price > 2 }),
  findFirst: (tx) => tx.seats.findFirst({ index: "byPrice", where: f, orderBy: { price: "asc" } }),
  exists: (tx) => tx.seats.exists({ where: { name: "of held" } }),
  scan: (tx) => tx.seats.scan(),
  distinct: (tx) => tx.seats.distinct({ index: "byPrice", where: f, field: "price" }),
  "count of a flight": (tx) => tx.seats.count({ where: f }),
  "count of all": (tx) => tx.seats.count(),
  "count of a range": (tx) => tx.seats.count({ where: { ...f, price: { gte: 2 } } }),
  "count with a filter": (tx) => tx.seats.count({ where: f, filter: ({ price }) => price > 2 }),
  sum: (tx) => tx.seats.aggregate({ where: f, sum: { price: true } }),
  "min and max": (tx) =>
    tx.seats.aggregate({ where: f, min: { price: true }, max: { price: true } }),
  groupBy: (tx) => tx.seats.groupBy({ index: "byFlight", by: ["flight"], count: true }),
  include: (tx) => tx.flights.findUnique({ where: { id: "f" }, include: { seats: true } }),
  _count: (tx) =>
    tx.flights.findUnique({ where: { id: "f" }, include: { _count: { seats: true } } }),
};

/** Commits what a transaction reads, and returns how many attempts it has made. */
async function attemptsOf(
  read: (tx: Tx) => Promise<unknown>,
  meanwhile: () => unknown,
): Promise<number> {
  let attempts = 0;
  let seen: unknown;
  await db.transaction(async (tx) => {
    attempts++;
    seen = await read(tx);
    if (attempts === 1) await meanwhile();
    await tx.log.create({ data: { id: "seen", seen } });
  }, others);
  // What was committed is what the transaction would read now.
  expect(seen).toEqual(await db.transaction(read));
  return attempts;
}

describe("a row that expires before the commit of a transaction that has read it", () => {
  it.each(Object.keys(reads))("conflicts: %s", async (name) => {
    expect(await attemptsOf(reads[name]!, () => passes(1000))).toBe(2);
  });

  it.each(Object.keys(reads))("does not conflict before its time: %s", async (name) => {
    expect(await attemptsOf(reads[name]!, () => passes(999))).toBe(1);
  });
});

it.each(Object.keys(reads))("a row that has expired does not conflict: %s", async (name) => {
  passes(1000);
  expect(await attemptsOf(reads[name]!, () => passes(400))).toBe(1);
});

describe("a row whose time is brought forward after a transaction has counted it", () => {
  const changes: Record<string, () => Promise<unknown>> = {
    "of a row that expires": () =>
      db.seats.update({ where: { id: "held" }, data: { name: "new" }, expireIn: 100 }),
    "of one that does not expire": () =>
      db.seats.update({ where: { id: "booked" }, data: { name: "new" }, expireIn: 100 }),
  };
  const names = Object.keys(reads).filter((name) => /count|sum|groupBy/.test(name));
  it.each(names.flatMap((name) => Object.keys(changes).map((change) => [name, change] as const)))(
    "conflicts: %s, %s",
    async (name, change) => {
      const meanwhile = async () => {
        await changes[change]!();
        passes(100);
      };
      expect(await attemptsOf(reads[name]!, meanwhile)).toBe(2);
    },
  );
});

it("a count does not conflict with rows of other groups that expire", async () => {
  await db.seats.createMany({
    data: Array.from({ length: 50 }, (_, i) => seat(`${i}`, "g")),
    expireIn: 10,
  });
  expect(await attemptsOf(reads["count of a flight"]!, () => passes(500))).toBe(1);
});

it("a count of a group without rows that expire commits among many of others that do", async () => {
  await db.seats.update({ where: { id: "held" }, data: { flight: "g" } });
  for (let i = 1; i <= 300; i++)
    await db.seats.create({ data: seat(`${i}`, "g"), expireIn: 10 * i });
  // Each attempt lasts until 90 rows have expired. The first looks ahead to 64 of them.
  let attempts = 0;
  await db.transaction(async (tx) => {
    attempts++;
    const seen = await tx.seats.count({ where: f });
    passes(900);
    await tx.log.create({ data: { id: "seen", seen } });
  });
  expect(attempts).toBe(2);
});

it("a count notices a row that lives longer than its record says, and the rows before it", async () => {
  await db.seats.delete({ where: { id: "held" } });
  // The lifetime of the row begins at the commit, that of its record at the call.
  await db.transaction(async (tx) => {
    await tx.seats.create({ data: seat("late"), expireIn: 200 });
    passes(100);
  });
  await db.seats.create({ data: seat("soon"), expireIn: 150 });
  expect(await attemptsOf(reads["count of a flight"]!, () => passes(160))).toBe(2);
});

it("two transactions do not each act on a row that only one of them saw (write skew)", async () => {
  // A seat is offered if one is free and nobody waits. People wait if none is free.
  const wait = async (tx: Tx, meanwhile: () => Promise<unknown>) => {
    const taken = await tx.seats.count();
    await meanwhile();
    if (taken >= 3) await tx.log.create({ data: { id: "wait", seen: taken } });
  };
  const offer = async (tx: Tx) => {
    if ((await tx.log.findUnique({ where: { id: "wait" } })) !== null) return;
    const taken = await tx.seats.count();
    if (taken < 3) await tx.log.create({ data: { id: "offer", seen: taken } });
  };
  let attempts = 0;
  const meanwhile = async () => {
    if (++attempts > 1) return;
    passes(1000);
    await db.transaction(offer);
  };
  await db.transaction((tx) => wait(tx, meanwhile), others);
  expect(attempts).toBe(2);
  expect((await db.log.scan()).items).toEqual([{ id: "offer", seen: 2 }]);
});

it("a count agrees with the rows if the clock of the database is ahead", async () => {
  const seen: number[] = [];
  await db.transaction(async (tx) => {
    passes(1000);
    seen.push((await tx.seats.scan()).items.length);
    passes(-500);
    seen.push(await tx.seats.count());
  });
  expect(seen).toEqual([2, 2]);
  await expect(
    db.transaction(
      async (tx) => {
        passes(500);
        expect(await tx.seats.exists({ where: { name: "of held" } })).toBe(false);
        passes(-500);
        await tx.seats.delete({ where: { id: "other" } });
        seen.push(await tx.seats.count());
      },
      { maxAttempts: 1 },
    ),
  ).rejects.toThrow(TransactionConflictError);
  expect(seen).toEqual([2, 2, 1]);
});
