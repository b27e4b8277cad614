import { openKv } from "@keywright/core";
import { describe, expect, it, vi } from "vitest";
import { rowsOf } from "../src/codegen.js";
import { createDatabase, type Database, type QueryEvent } from "../src/index.js";
import { rejection, User, users } from "./user-model.js";

type Db = Database<{ users: typeof User }>;

async function withEvents(body: (db: Db, events: QueryEvent[]) => Promise<void>): Promise<void> {
  const kv = await openKv();
  const events: QueryEvent[] = [];
  try {
    const db = await createDatabase({
      kv,
      models: { users: User },
      onQuery: (event) => events.push(event),
    });
    for (const data of [users.ada, users.bob, users.cyd]) await db.users.create({ data });
    events.length = 0;
    await body(db, events);
  } finally {
    await kv.close();
  }
}

/** What was read through which index, by which method. */
const readsOf = (events: readonly QueryEvent[]) =>
  events.map(({ operation, index, reads }) => [operation, index, reads]);

const green = { where: { favoriteColor: "green" } } as const;

describe("query events", () => {
  it("tell of each read which index it used and how many entries it read", async () => {
    await withEvents(async (db, events) => {
      const ada = await db.users.findUnique({ where: { email: "ada@example.com" } });
      const id = ada?.id ?? "";
      await db.users.findUniqueOrThrow({ where: { id } });
      await db.users.findUnique({ where: { email: "nobody@example.com" } });
      await db.users.findMany(green);
      await db.users.findMany({ where: { favoriteColor: "blue" } });
      await db.users.scan();
      await db.users.count(green);
      expect(readsOf(events)).toEqual([
        ["findUnique", "byEmail", 2],
        ["findUniqueOrThrow", "primaryKey", 1],
        ["findUnique", "byEmail", 1],
        ["findMany", "byFavoriteColor", 4],
        ["findMany", "byFavoriteColor", 0],
        ["scan", "primaryKey", 3],
        ["count", "byFavoriteColor", 2],
      ]);
      expect(events.every(({ model, error }) => model === "users" && error === undefined)).toBe(
        true,
      );
    });
  });

  it("tell of a stream when it ends or is left, with what it read until then", async () => {
    await withEvents(async (db, events) => {
      for await (const _row of db.users.findMany(green)) expect(events).toEqual([]);
      for await (const _row of db.users.scan()) break;
      expect(events.map(({ operation }) => operation)).toEqual(["findMany", "scan"]);
      expect(readsOf(events)[0]).toEqual(["findMany", "byFavoriteColor", 4]);
      expect(events[1]?.reads).toBeGreaterThan(0);
    });
  });

  it("tell of a write, and what a call threw", async () => {
    await withEvents(async (db, events) => {
      const { id } = await db.users.create({ data: { ...users.bob, email: "new@example.com" } });
      await db.users.update({ where: { id }, data: { name: "Robert" } });
      const failure = await rejection(db.users.create({ data: users.ada }));
      await rejection(db.users.findUniqueOrThrow({ where: { id: "01J00000000000000000000000" } }));
      await db.users.delete({ where: { id } });
      expect(events.map(({ operation }) => operation)).toEqual([
        "create",
        "update",
        "create",
        "findUniqueOrThrow",
        "delete",
      ]);
      expect(events[2]?.error).toBe(failure);
      expect(failure).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", operation: "create" });
      expect(events[3]?.error).toMatchObject({ code: "KW_ROW_NOT_FOUND" });
      expect(events[4]?.error).toBe(undefined);
    });
  });

  it("tell of the calls within a transaction, and of a query that no index serves", async () => {
    await withEvents(async (db, events) => {
      await db.transaction(async (tx) => {
        await tx.users.findMany(green);
      });
      const unserved = { where: { name: "Ada" } } as never;
      await rejection(Promise.resolve(db.users.findMany(unserved)));
      expect(events.map(({ operation }) => operation)).toEqual(["findMany", "findMany"]);
      expect(events[1]).toMatchObject({
        index: undefined,
        reads: 0,
        error: { code: "KW_QUERY_UNINDEXED" },
      });
    });
  });

  it("tell of calls that are refused before they read, also of generated repositories", async () => {
    await withEvents(async (db, events) => {
      const generated = rowsOf<object, object, object>(db, "users");
      const failures = [
        await rejection(Promise.resolve(db.users.findMany({ wehre: {} } as never))),
        await rejection(generated.count({ index: "byEmail", where: { name: "Ada" } })),
        await rejection(generated.upsert({ where: { name: "Ada" }, create: {}, update: {} })),
        await rejection((async () => db.users.watch({ where: { age: 1 } } as never))()),
        await rejection((async () => generated.watchMany({ index: "byNothing", where: {} }))()),
      ];
      expect(failures.map(({ code }) => code)).toEqual([
        "KW_ARGUMENT_INVALID",
        "KW_QUERY_INVALID",
        "KW_QUERY_UNINDEXED",
        "KW_QUERY_UNINDEXED",
        "KW_INDEX_UNKNOWN",
      ]);
      expect(events.map(({ error }) => error)).toEqual(failures);
      expect(readsOf(events)).toEqual([
        ["findMany", undefined, 0],
        ["count", undefined, 0],
        ["upsert", undefined, 0],
        ["watch", undefined, 0],
        ["watch", undefined, 0],
      ]);
    });
  });

  it("say when a call began and how long it took, in milliseconds", async () => {
    await withEvents(async (db, events) => {
      const before = Date.now();
      await db.users.findMany(green);
      const after = Date.now();
      const [event] = events;
      expect(event?.startedAt).toBeGreaterThanOrEqual(before);
      expect(event?.startedAt).toBeLessThanOrEqual(after);
      expect(event?.milliseconds).toBeGreaterThan(0);
    });
  });

  it("that their function does not take go to the console, and the call stands", async () => {
    const kv = await openKv();
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    try {
      const onQuery = () => {
        throw new Error("no more calls");
      };
      const db = await createDatabase({ kv, models: { users: User }, onQuery });
      const ada = await db.users.create({ data: users.ada });
      expect(await db.users.findUnique({ where: { id: ada.id } })).toEqual(ada);
      expect(log).toHaveBeenCalledTimes(2);
    } finally {
      log.mockRestore();
      await kv.close();
    }
  });

  it("of a query tell of at most as many reads as it may make", async () => {
    await withEvents(async (db, events) => {
      for (let maxReads = 0; maxReads < 4; maxReads++) {
        await rejection(db.users.findMany({ ...green, maxReads }));
        await rejection(
          db.users.findMany({ where: { email: { in: ["a", "b", "c", "d"] } }, maxReads }),
        );
        await rejection(db.users.scan({ maxReads: Math.min(maxReads, 2) }));
        await rejection(db.users.count({ ...green, maxReads: Math.min(maxReads, 1) }));
        for (const { reads } of events) expect(reads).toBeLessThanOrEqual(maxReads);
        expect(events).toHaveLength(4);
        events.length = 0;
      }
    });
  });

  it("of a write may tell of more reads than a query may make", async () => {
    const kv = await openKv();
    try {
      const db = await createDatabase({ kv, models: { users: User }, maxReads: 1 });
      await db.users.create({ data: users.ada });
      const where = { email: users.ada.email };
      expect(await rejection(db.users.findUnique({ where }))).toMatchObject({
        code: "KW_READ_LIMIT",
      });
      const updated = await db.users.update({ where, data: { age: 36 } });
      expect(updated.age).toBe(36);
    } finally {
      await kv.close();
    }
  });

  it("cannot make a call fail: a callback that throws is reported to the console", async () => {
    const kv = await openKv();
    const printed = vi.spyOn(console, "error").mockReturnValue(undefined);
    const onQuery = () => {
      throw new Error("no exporter");
    };
    try {
      const db: Db = await createDatabase({ kv, models: { users: User }, onQuery });
      const { id } = await db.users.create({ data: users.ada });
      expect(await db.users.findUnique({ where: { id } })).toMatchObject({ name: "Ada" });
      const reader = db.users.watch({ where: { id } }).getReader();
      expect((await reader.read()).value).toMatchObject({ name: "Ada" });
      await reader.cancel();
      expect(printed).toHaveBeenCalledTimes(3);
    } finally {
      printed.mockRestore();
      await kv.close();
    }
  });
});
