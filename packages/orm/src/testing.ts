import assert from "node:assert/strict";
import type { Kv, KvLike } from "@keywright/core";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  type Database,
  defineModel,
  desc,
  hasMany,
  migrate,
} from "./index.js";
import { expectIndexesToMatch } from "./testing/expect-indexes.js";

export { factory } from "./testing/fixtures/factory.js";
export type {
  Factory,
  FactoryContext,
  FactoryOptions,
  ParentFactory,
  Trait,
} from "./testing/fixtures/factory-types.js";
export { type TestClock, testClock } from "./testing/fixtures/test-clock.js";
export {
  type TestDatabase,
  type TestDatabaseOptions,
  testDatabase,
} from "./testing/fixtures/test-database.js";

/** The interface of a test runner, such as vitest, jest, mocha, node:test or bun:test. */
export interface SuiteRunner {
  readonly describe: (name: string, body: () => void) => void;
  readonly it: (name: string, body: () => Promise<void>) => void;
}

/** A database to run the suite on. */
export interface SuiteTarget {
  readonly name: string;
  /** An empty database, and what removes it. */
  readonly open: () => Promise<{ kv: KvLike; dispose: () => Promise<void> | void }>;
}

/**
 * Tests what the ORM must do on every database. Each test has an empty database.
 *
 * ```ts
 * import { ormSuite } from "@keywright/orm/testing";
 * import { describe, it } from "vitest";
 *
 * ormSuite({ describe, it }, {
 *   name: "my database",
 *   open: async () => {
 *     const kv = await openMyDatabase();
 *     return { kv, dispose: () => kv.close() };
 *   },
 * });
 * ```
 */
export function ormSuite({ describe, it }: SuiteRunner, { name, open }: SuiteTarget): void {
  const User = defineModel({
    name: "users",
    schema: z.object({
      id: z.ulid(),
      name: z.string(),
      email: z.email(),
      age: z.int().optional(),
      tags: z.array(z.string()).default([]),
      visits: z.int().default(0),
      born: z.date().optional(),
    }),
    primaryKey: "id",
    indexes: {
      byEmail: { key: "email", unique: true, normalize: "lowercase" },
      byName: { key: "name", count: true },
      byTag: { key: "tags", each: true },
      byNameAndAge: { key: ["name", desc("age")] },
      byBorn: { key: "born", include: ["name"] },
      byVisits: { key: "visits", where: (user) => user.visits > 0, store: "copy" },
    },
    relations: { posts: hasMany("posts", "authorId") },
    count: true,
  });

  const Post = defineModel({
    name: "posts",
    schema: z.object({ id: z.int(), authorId: z.string(), title: z.string() }),
    primaryKey: "id",
    indexes: { byAuthor: { key: "authorId" } },
    relations: { author: belongsTo("users", "authorId", { onDelete: "cascade" }) },
  });

  const person = (i: number) => ({
    name: i % 2 ? "Odd" : "Even",
    email: `u${i}@example.com`,
    age: i,
  });

  const withDatabase = async (
    test: (db: Database<{ users: typeof User; posts: typeof Post }>, kv: Kv) => Promise<void>,
  ) => {
    const { kv, dispose } = await open();
    try {
      const db = await createDatabase({ kv, models: { users: User, posts: Post } });
      await test(db, kv as Kv);
      await expectIndexesToMatch(kv as Kv, User);
      await expectIndexesToMatch(kv as Kv, Post);
    } finally {
      await dispose();
    }
  };

  /** The code of the error that a promise rejects with. */
  const codeOf = async (promise: Promise<unknown>) => {
    try {
      await promise;
    } catch (error) {
      return (error as { code: string }).code;
    }
    return undefined;
  };

  describe(`the ORM on ${name}`, () => {
    it("creates, finds, changes and deletes a row with its entries", () =>
      withDatabase(async (db) => {
        const born = new Date("1815-12-10");
        const ada = await db.users.create({
          data: { name: "Ada", email: "Ada@example.com", tags: ["x", "y", "x"], born },
        });
        const where = { id: ada.id };
        assert.deepEqual(await db.users.findUnique({ where }), ada);
        assert.deepEqual(await db.users.findUnique({ where: { email: "ADA@EXAMPLE.COM" } }), ada);
        const tagged = await db.users.findMany({ where: { tags: { has: "y" } } });
        assert.deepEqual(tagged.items, [ada]);
        const early = { where: { born: { lt: new Date(0) } }, select: { name: true } } as const;
        assert.deepEqual((await db.users.findMany(early)).items, [{ name: "Ada" }]);
        const changed = await db.users.update({
          where,
          data: { visits: { increment: 2 }, tags: { push: "z" }, born: { unset: true } },
        });
        assert.deepEqual([changed.visits, changed.tags], [2, ["x", "y", "x", "z"]]);
        assert.deepEqual((await db.users.findMany({ index: "byVisits" })).items, [changed]);
        assert.deepEqual(await db.users.delete({ where }), changed);
        assert.equal(await db.users.findUnique({ where }), null);
        assert.equal(await db.users.count(), 0);
      }));

    it("lets one of many have a unique value, and tells the others who has it", () =>
      withDatabase(async (db) => {
        const claims = Array.from({ length: 8 }, () => db.users.create({ data: person(1) }));
        const results = await Promise.allSettled(claims);
        const winners = results.flatMap((one) =>
          one.status === "fulfilled" ? [one.value.id] : [],
        );
        const losers = results.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
        assert.equal(winners.length, 1);
        for (const { code, ownerId } of losers) {
          assert.deepEqual([code, ownerId], ["KW_UNIQUE_CONSTRAINT", winners[0]]);
        }
      }));

    it("applies each of many changes of one row", () =>
      withDatabase(async (db) => {
        const { id } = await db.users.create({ data: person(1) });
        const data = { visits: { increment: 1 } };
        await Promise.all(
          Array.from({ length: 6 }, () => db.users.update({ where: { id }, data })),
        );
        assert.equal((await db.users.findUniqueOrThrow({ where: { id } })).visits, 6);
      }));

    it("pages, streams, sorts and counts", () =>
      withDatabase(async (db) => {
        await db.users.createMany({ data: Array.from({ length: 30 }, (_, i) => person(i)) });
        const seen: unknown[] = [];
        let cursor: string | null = null;
        do {
          const page: { items: { age?: number | undefined }[]; cursor: string | null } =
            await db.users.findMany({ where: { name: "Odd", age: { gte: 5 } }, take: 4, cursor });
          seen.push(...page.items.map(({ age }) => age));
          cursor = page.cursor;
        } while (cursor !== null);
        const odd = Array.from({ length: 13 }, (_, i) => 29 - 2 * i);
        assert.deepEqual(seen, odd);
        const streamed: unknown[] = [];
        const upward = {
          where: { name: "Odd", age: { gte: 5 } },
          orderBy: { age: "asc" },
        } as const;
        for await (const { age } of db.users.findMany(upward)) streamed.push(age);
        assert.deepEqual(streamed, odd.toReversed());
        assert.equal(await db.users.count({ where: { name: "Even" } }), 15);
        assert.equal(await db.users.count({ where: { name: "Odd", age: { lt: 10 } } }), 5);
        assert.equal(await db.users.exists({ where: { name: "Nobody" } }), false);
      }));

    it("writes many rows, each with a result of its own, or all or none", () =>
      withDatabase(async (db) => {
        const data = [
          ...Array.from({ length: 40 }, (_, i) => person(i)),
          person(3),
          { ...person(50), email: "no" },
        ];
        const { count, results } = await db.users.createMany({ data });
        assert.equal(count, 40);
        assert.deepEqual(results.map(({ ok }) => ok).slice(38), [true, true, false, false]);
        const twice = { data: [person(60), person(60)], atomic: true };
        assert.equal(await codeOf(db.users.createMany(twice)), "KW_UNIQUE_CONSTRAINT");
        assert.equal(await db.users.count(), 40);
        const even = { where: { name: "Even" } } as const;
        assert.equal((await db.users.updateMany({ ...even, data: { name: "Odd" } })).count, 20);
        assert.equal(await db.users.count({ where: { name: "Odd" } }), 40);
        assert.equal(
          (await db.users.deleteMany({ where: { name: "Odd", age: { gte: 10 } } })).count,
          30,
        );
        assert.equal(await db.users.count(), 10);
      }));

    it("changes a row or creates it", () =>
      withDatabase(async (db) => {
        const where = { email: "u1@example.com" };
        const call = () =>
          db.users.upsert({ where, create: person(1), update: { visits: { increment: 1 } } });
        const rows = await Promise.all([call(), call(), call()]);
        assert.equal(new Set(rows.map(({ id }) => id)).size, 1);
        assert.equal((await db.users.findUniqueOrThrow({ where })).visits, 2);
      }));

    it("writes on condition of a version alone", () =>
      withDatabase(async (db) => {
        const { id } = await db.users.create({ data: person(1) });
        const query = { where: { id }, withVersionstamp: true } as const;
        const { versionstamp } = await db.users.findUniqueOrThrow(query);
        await db.users.update({ where: { id }, data: { visits: 1 }, ifVersion: versionstamp });
        const late = db.users.delete({ where: { id }, ifVersion: versionstamp });
        assert.equal(await codeOf(late), "KW_VERSION_CONFLICT");
      }));

    it("makes a transaction's reads and writes one", () =>
      withDatabase(async (db) => {
        const [from, to] = [person(1), person(2)];
        const a = await db.users.create({ data: { ...from, visits: 100 } });
        const b = await db.users.create({ data: to });
        const move = (amount: number) =>
          db.transaction(async (tx) => {
            const { visits } = await tx.users.findUniqueOrThrow({ where: { id: a.id } });
            if (visits < amount) throw new Error("too little");
            await tx.users.update({ where: { id: a.id }, data: { visits: visits - amount } });
            await tx.users.update({
              where: { id: b.id },
              data: { visits: { increment: amount } },
            });
          });
        await Promise.allSettled([move(60), move(30), move(60), move(10)]);
        const visits = (await db.users.scan()).items.map((user) => user.visits);
        assert.equal(
          visits.reduce((sum, one) => sum + one, 0),
          100,
        );
        assert.equal((visits[0] ?? -1) >= 0, true);
      }));

    it("reads one state in a snapshot, or refuses it", () =>
      withDatabase(async (db, kv) => {
        const data = Array.from({ length: 40 }, (_, i) => person(i));
        await db.users.createMany({ data });
        const read = db.snapshot(async (view) => {
          const where = { name: "Odd" } as const;
          await db.users.deleteMany({ where: { name: "Odd", age: { gte: 20 } } });
          await db.users.create({ data: person(101) });
          const { items } = await view.users.findMany({ where });
          await db.users.updateMany({ where: { name: "Even" }, data: { name: "Odd" } });
          let streamed = 0;
          for await (const _ of view.users.scan()) streamed++;
          return [items.length, await view.users.count({ where }), streamed];
        });
        if (kv.checksRanges === true) assert.deepEqual(await read, [20, 20, 40]);
        else assert.equal(await codeOf(read), "KW_ISOLATION_UNAVAILABLE");
      }));

    it("keeps rows that refer to each other together", () =>
      withDatabase(async (db) => {
        const { id } = await db.users.create({ data: person(1) });
        const orphan = db.posts.create({ data: { id: 9, authorId: "nobody", title: "x" } });
        assert.equal(await codeOf(orphan), "KW_REFERENCE_MISSING");
        for (const n of [1, 2, 3]) {
          await db.posts.create({ data: { id: n, authorId: id, title: `T${n}` } });
        }
        const found = await db.users.findUniqueOrThrow({
          where: { id },
          include: { posts: { select: { title: true } } },
        });
        assert.deepEqual(
          found.posts.map(({ title }) => title),
          ["T1", "T2", "T3"],
        );
        await db.users.delete({ where: { id } });
        assert.deepEqual((await db.posts.scan()).items, []);
      }));

    it("writes copies of fields with the rows that they copy", async () => {
      const Team = defineModel({
        name: "teams",
        schema: z.object({ id: z.string(), rank: z.int() }),
        primaryKey: "id",
      });
      const Player = defineModel({
        name: "players",
        schema: z.object({ id: z.string(), teamId: z.string(), rank: z.int().default(0) }),
        primaryKey: "id",
        indexes: { byTeam: { key: "teamId" }, byRank: { key: ["rank", "id"] } },
        relations: { team: belongsTo("teams", "teamId", { copy: { rank: "rank" } }) },
      });
      const { kv, dispose } = await open();
      try {
        const db = await createDatabase({ kv, models: { teams: Team, players: Player } });
        await db.teams.createMany({
          data: [
            { id: "a", rank: 1 },
            { id: "b", rank: 2 },
          ],
        });
        for (const [id, teamId] of [
          ["p1", "a"],
          ["p2", "b"],
          ["p3", "a"],
        ] as const) {
          await db.players.create({ data: { id, teamId } });
        }
        const writes = [3, 4, 5, 6].map((rank) =>
          db.teams.update({ where: { id: "a" }, data: { rank } }),
        );
        const moves = ["b", "a"].map((teamId) =>
          db.players.update({ where: { id: "p3" }, data: { teamId } }),
        );
        await Promise.all([...writes, ...moves]);
        const ranks = new Map((await db.teams.scan()).items.map(({ id, rank }) => [id, rank]));
        const { items } = await db.players.findMany({ orderBy: { rank: "asc" } });
        assert.equal(items.length, 3);
        for (const { teamId, rank } of items) assert.equal(rank, ranks.get(teamId));
        await expectIndexesToMatch(kv as Kv, Player);
      } finally {
        await dispose();
      }
    });

    it("takes rows that expire, and keeps their time when they change", async () => {
      const Session = defineModel({
        name: "sessions",
        schema: z.object({ id: z.string(), user: z.string() }),
        primaryKey: "id",
        indexes: { byUser: { key: "user" } },
      });
      const { kv, dispose } = await open();
      try {
        const db = await createDatabase({ kv, models: { sessions: Session } });
        await db.sessions.create({ data: { id: "s", user: "ada" }, expireIn: 60_000 });
        await db.sessions.update({ where: { id: "s" }, data: { user: "bob" } });
        const { items } = await db.sessions.findMany({ where: { user: "bob" } });
        assert.deepEqual(items, [{ id: "s", user: "bob" }]);
        await expectIndexesToMatch(kv as Kv, Session);
      } finally {
        await dispose();
      }
    });

    it("commits no count in a transaction that has one row less by then", async () => {
      const Session = defineModel({
        name: "sessions",
        schema: z.object({ id: z.string(), user: z.string() }),
        primaryKey: "id",
        indexes: { byUser: { key: "user", count: true } },
      });
      const { kv, dispose } = await open();
      try {
        // Other databases may return rows after their time.
        if ((kv as Kv).checksRanges !== true) return;
        const db = await createDatabase({ kv, models: { sessions: Session } });
        await db.sessions.create({ data: { id: "s", user: "ada" }, expireIn: 1000 });
        await db.sessions.create({ data: { id: "t", user: "ada" } });
        let counted: number | undefined;
        await db.transaction(async (tx) => {
          counted = await tx.sessions.count({ where: { user: "ada" } });
          const isThere = async () =>
            (await db.sessions.findUnique({ where: { id: "s" } })) !== null;
          while (await isThere()) await new Promise((resolve) => setTimeout(resolve, 20));
          await tx.sessions.create({ data: { id: "u", user: "bob" } });
        });
        assert.equal(counted, 1);
      } finally {
        await dispose();
      }
    });

    it("builds a new index for its rows, and reads rows that were written by hand", async () => {
      const fields = { id: z.int(), color: z.string() };
      const First = defineModel({ name: "cars", schema: z.object(fields), primaryKey: "id" });
      const Later = defineModel({
        name: "cars",
        schema: z.object(fields),
        primaryKey: "id",
        indexes: { byColor: { key: "color", count: true } },
      });
      const { kv, dispose } = await open();
      try {
        for (let id = 0; id < 20; id++) {
          await kv.set(["cars", id], { id, color: id % 3 ? "red" : "blue" });
        }
        await createDatabase({ kv, models: { cars: First } });
        const db = await createDatabase({ kv, models: { cars: Later } });
        assert.equal((await migrate(db)).status, "done");
        const { items } = await db.cars.findMany({ where: { color: "blue" } });
        assert.deepEqual(
          items.map(({ id }) => id),
          [0, 3, 6, 9, 12, 15, 18],
        );
        assert.equal(await db.cars.count({ where: { color: "red" } }), 13);
        await expectIndexesToMatch(kv as Kv, Later);
      } finally {
        await dispose();
      }
    });
  });
}
