import { type Engine, openKv, type ReadView } from "@keywright/core";
import { createDatabase, defineModel, hasMany } from "@keywright/orm";
import pg from "pg";
import { expect, it, vi } from "vitest";
import * as z from "zod";
import { postgresEngine } from "../../src/index.js";
import { describeOnServer, newTable, query } from "../server/shared-server.js";

const users = defineModel({
  name: "users",
  schema: z.object({ id: z.int(), email: z.string(), name: z.string() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true }, byName: { key: "name" } },
  relations: { posts: hasMany("posts", "authorId") },
});
const posts = defineModel({
  name: "posts",
  schema: z.object({ id: z.int(), authorId: z.int() }),
  primaryKey: "id",
  indexes: { byAuthor: { key: "authorId" } },
});

/** Counts the requests to an engine. */
function counted(engine: Engine): { engine: Engine; requests(): number } {
  let requests = 0;
  const count =
    <Args extends unknown[], Result>(call: (...args: Args) => Result) =>
    (...args: Args): Result => {
      requests++;
      return call(...args);
    };
  return {
    engine: {
      limits: engine.limits,
      isShared: true,
      checksRanges: true,
      // A view that begins with its first read needs no request to be opened.
      openView: (options) => {
        const view = engine.openView!({ ...options, atFirstRead: true }) as ReadView;
        return {
          get versionstamp() {
            return view.versionstamp;
          },
          get: count((key) => view.get(key)),
          getMany: count((keys) => view.getMany(keys)),
          getRange: count((read) => view.getRange(read)),
          close: () => view.close(),
        };
      },
      get: count((key) => engine.get(key)),
      getMany: count((keys) => engine.getMany(keys)),
      getRange: count((read) => engine.getRange(read)),
      commit: count((writes) => engine.commit(writes)),
      watch: (...args) => engine.watch(...args),
      watchRanges: (...args) => engine.watchRanges(...args),
      close: () => engine.close(),
    },
    requests: () => requests,
  };
}

describeOnServer("the round trips of a call", () => {
  it("are these", async () => {
    const { engine, requests } = counted(await postgresEngine(newTable()));
    await using kv = await openKv(engine);
    const db = await createDatabase({ kv, models: { users, posts } });
    const user = (id: number) => ({ id, email: `${id}@x.com`, name: "Ada" });
    await db.users.createMany({ data: Array.from({ length: 120 }, (_, id) => user(id)) });
    await db.posts.createMany({
      data: Array.from({ length: 9 }, (_, id) => ({ id, authorId: 5 })),
    });
    const trips: Record<string, number> = {};
    // The fewest of eight attempts: some also read the catalog, because of the time.
    const measure = async (name: string, call: (attempt: number) => PromiseLike<unknown>) => {
      for (let attempt = 0; attempt < 8; attempt++) {
        const before = requests();
        await call(attempt);
        trips[name] = Math.min(trips[name] ?? Number.POSITIVE_INFINITY, requests() - before);
      }
    };
    const where = { id: 5 };
    await measure("create", (attempt) => db.users.create({ data: user(500 + attempt) }));
    await measure("findUnique", () => db.users.findUnique({ where }));
    await measure("findUnique by a unique index", () =>
      db.users.findUnique({ where: { email: "5@x.com" } }),
    );
    await measure("update", () => db.users.update({ where, data: { name: "Bob" } }));
    await measure("delete", (attempt) => db.users.delete({ where: { id: 500 + attempt } }));
    await measure("findMany of 100 rows", () =>
      db.users.findMany({ where: { name: "Ada" }, take: 100 }),
    );
    await measure("findUnique with include", () =>
      db.users.findUnique({ where, include: { posts: true } }),
    );
    await measure("a transaction of 2 reads", () =>
      db.transaction(async (tx) => {
        const one = await tx.users.findUniqueOrThrow({ where });
        await tx.users.findUniqueOrThrow({ where: { id: 6 } });
        await tx.users.update({ where, data: { name: `${one.name}!` } });
      }),
    );
    await measure("a transaction of a list", (attempt) =>
      db.transaction(async (tx) => {
        await tx.posts.findMany({ where: { authorId: 5 } });
        await tx.posts.create({ data: { id: 100 + attempt, authorId: 7 } });
      }),
    );
    expect(trips).toEqual({
      create: 1,
      findUnique: 1,
      "findUnique by a unique index": 2,
      update: 2,
      delete: 3,
      "findMany of 100 rows": 2,
      "findUnique with include": 3,
      "a transaction of 2 reads": 3,
      "a transaction of a list": 4,
    });
  });
});

describeOnServer("keys that are read one by one in the same turn", () => {
  it("are one statement for each 64 keys, and are found like keys that are read alone", async () => {
    await using kv = await openKv(await postgresEngine(newTable()));
    for (let n = 0; n < 50; n++) await kv.set(["n", n], n);
    const statements = vi.spyOn(pg.Client.prototype, "query");
    const read = async (count: number) => {
      statements.mockClear();
      const keys = Array.from({ length: count }, (_, n) => ["n", n % 64] as const);
      const entries = await Promise.all(keys.map((key) => kv.get(key)));
      // Others prepare a connection, or look for expired entries, which needs some time to begin.
      const isRead = (statement: unknown) => /_get(_many)?$/.test(Object(statement).name);
      const reads = statements.mock.calls.filter(([statement]) => isRead(statement));
      return { values: entries.map(({ value }) => value), statements: reads.length };
    };
    try {
      const values = (count: number) =>
        Array.from({ length: count }, (_, n) => (n % 64 < 50 ? n % 64 : null));
      for (const [count, expected] of [
        [1, 1],
        [64, 1],
        [65, 2],
        [200, 4],
      ] as const) {
        expect(await read(count)).toEqual({ values: values(count), statements: expected });
      }
      await kv.set(["n", 0], "new");
      expect(await read(2)).toEqual({ values: ["new", 1], statements: 1 });
    } finally {
      statements.mockRestore();
    }
  });

  it("are all refused if the server refuses", async () => {
    const { connectionString, prefix } = newTable();
    await using kv = await openKv(await postgresEngine({ connectionString, prefix }));
    await query(`ALTER TABLE ${prefix} RENAME TO ${prefix}_gone`);
    const reads = await Promise.allSettled([1, 2, 3].map((n) => kv.get(["n", n])));
    for (const read of reads) expect(read).toMatchObject({ status: "rejected" });
    await query(`ALTER TABLE ${prefix}_gone RENAME TO ${prefix}`);
    expect((await kv.get(["n", 1])).value).toBe(null);
  });
});
