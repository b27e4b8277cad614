import { type EmbeddedKv, type Kv, type KvKey, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, defineModel, hasMany } from "../src/index.js";
import { isOfCatalog } from "./counting-kv.js";
import { denoKv, withoutPages, withoutViews } from "./faulty-kv.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string() }),
  primaryKey: "id",
  relations: { sessions: hasMany("sessions", "userId") },
});

const Session = defineModel({
  name: "sessions",
  schema: z.object({ id: z.string(), userId: z.string(), bytes: z.int() }),
  primaryKey: "id",
  count: true,
  sum: ["bytes"],
  indexes: { byUser: { key: "userId", count: true, sum: ["bytes"] } },
  relations: { user: belongsTo("users", "userId") },
});

const open = (on: Kv) => createDatabase({ kv: on, models: { users: User, sessions: Session } });
type Database = Awaited<ReturnType<typeof open>>;
type Reads = Pick<Database, "users" | "sessions">;

let kv: EmbeddedKv;
beforeEach(async () => {
  // No catalog becomes due while the tests run.
  vi.spyOn(performance, "now").mockReturnValue(performance.now());
  vi.useFakeTimers({ toFake: ["Date"], now: 1_800_000_000_000 });
  kv = await openKv();
});
afterEach(async () => {
  await kv.close();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const session = (id: string) => ({ id, userId: "ada", bytes: 5 });
const ofAda = { userId: "ada" };

/** Writes the first row that expires, until it has expired. */
async function writeFirst(other: Database): Promise<void> {
  await other.sessions.create({ data: session("short"), expireIn: 5 });
  vi.setSystemTime(Date.now() + 10);
}

const counts: Record<string, (db: Reads) => Promise<unknown>> = {
  "count of all": (db) => db.sessions.count(),
  "count of a key": (db) => db.sessions.count({ where: ofAda }),
  "count of several keys": (db) => db.sessions.count({ where: { userId: { in: ["ada", "bob"] } } }),
  "count of a range of keys": (db) => db.sessions.count({ where: { userId: { gte: "a" } } }),
  "sum of all": async (db) =>
    (await db.sessions.aggregate({ sum: { bytes: true } })).sum.bytes ?? 0,
  "sum of a key": async (db) =>
    (await db.sessions.aggregate({ where: ofAda, sum: { bytes: true } })).sum.bytes ?? 0,
  groupBy: async (db) => {
    const query = { index: "byUser", by: ["userId"], count: true, sum: { bytes: true } } as const;
    return (await db.sessions.groupBy(query)).length;
  },
  _count: async (db) => {
    const include = { _count: { sessions: true } } as const;
    return (await db.users.findUnique({ where: { id: "ada" }, include }))?._count.sessions;
  },
};

describe.each([
  ["with views", (on: Kv) => on],
  ["without views", withoutViews],
  ["that does not tell when entries expire", denoKv],
] as const)("on a database %s", (_, wrap) => {
  let db: Database;
  let other: Database;
  beforeEach(async () => {
    db = await open(wrap(kv));
    other = await open(wrap(kv));
    await db.users.create({ data: { id: "ada" } });
  });

  describe("the first row of a model that expires is not counted after its time", () => {
    it.each(Object.keys(counts))("by another connection: %s", async (name) => {
      await writeFirst(other);
      expect(await counts[name]!(db)).toBe(0);
    });

    it.each(Object.keys(counts))("by a transaction of another connection: %s", async (name) => {
      await writeFirst(other);
      expect(await db.transaction((tx) => counts[name]!(tx))).toBe(0);
    });

    it("by a transaction that also lists the rows", async () => {
      await writeFirst(other);
      const seen = await db.transaction(async (tx) => [
        await tx.sessions.count({ where: ofAda }),
        (await tx.sessions.findMany({ where: ofAda })).items.length,
      ]);
      expect(seen).toEqual([0, 0]);
    });

    it("by a transaction that has begun before it was written", async () => {
      const outside = { allowOutsideWrites: true };
      let attempts = 0;
      const seen = await db.transaction(async (tx) => {
        await tx.users.findUnique({ where: { id: "ada" } });
        if (++attempts === 1) await writeFirst(other);
        const count = await tx.sessions.count({ where: ofAda });
        return [count, (await tx.sessions.findMany({ where: ofAda })).items.length];
      }, outside);
      expect(seen).toEqual([0, 0]);
    });
  });

  it("the first row of a model that expires is counted until its time", async () => {
    await other.sessions.create({ data: session("long"), expireIn: 1000 });
    for (const name of Object.keys(counts)) {
      const expected = name.startsWith("sum") ? 5 : 1;
      expect(await counts[name]!(db), name).toBe(expected);
      expect(await db.transaction((tx) => counts[name]!(tx)), name).toBe(expected);
    }
  });
});

/** A database that records the keys of each request that reads keys. */
function recordingKv(on: Kv): { readonly kv: Kv; readonly requests: (readonly KvKey[])[] } {
  const requests: (readonly KvKey[])[] = [];
  const recorded = <Source extends object>(source: Source): Source =>
    new Proxy(source, {
      get(target, property) {
        const member: unknown = Reflect.get(target, property, target);
        if (typeof member !== "function") return member;
        return (...given: unknown[]) => {
          if (property === "get") requests.push([given[0] as KvKey]);
          if (property === "getMany") requests.push(given[0] as KvKey[]);
          const result: unknown = member.apply(target, given);
          return property === "openView" ? recorded(result as object) : result;
        };
      },
    });
  return { kv: recorded(withoutPages(on)), requests };
}

describe("until it is known that rows expire", () => {
  const calls = [
    (db: Database) => db.sessions.count(),
    (db: Database) => db.transaction((tx) => tx.sessions.count()),
  ];

  async function requestsOf(
    requests: (readonly KvKey[])[],
    call: () => Promise<unknown>,
  ): Promise<unknown[]> {
    requests.length = 0;
    await call();
    return requests.map((keys) => keys.map((key) => (isOfCatalog([key]) ? "catalog" : key[1])));
  }

  it("the catalog is read in the request of the counter", async () => {
    const { kv: recorded, requests } = recordingKv(kv);
    const db = await open(denoKv(recorded));
    await db.users.create({ data: { id: "ada" } });
    for (const call of calls)
      expect(await requestsOf(requests, () => call(db))).toEqual([["count", "catalog"]]);
    await db.sessions.create({ data: session("long"), expireIn: 1000 });
    for (const call of calls)
      expect((await requestsOf(requests, () => call(db))).flat()).not.toContain("catalog");
  });

  it("an embedded database reads the catalog once after a write of another connection", async () => {
    const { kv: recorded, requests } = recordingKv(kv);
    const db = await open(recorded);
    const other = await open(kv);
    await db.users.create({ data: { id: "ada" } });
    for (const call of calls) {
      await db.sessions.create({ data: session(`own${calls.indexOf(call)}`) });
      expect(await requestsOf(requests, () => call(db))).toEqual([["count"]]);
      await other.sessions.create({ data: session(`other${calls.indexOf(call)}`) });
      expect(await requestsOf(requests, () => call(db))).toEqual([["count"], ["catalog"]]);
      expect(await requestsOf(requests, () => call(db))).toEqual([["count"]]);
    }
  });
});
