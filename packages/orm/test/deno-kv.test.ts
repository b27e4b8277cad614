import { type Kv, openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, migrate } from "../src/index.js";
import { openDenoKv } from "./open-deno-kv.js";
import { LaterUser, rejection, User, users } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

/** Real Deno KV, by its own client for Node.js, and the database that behaves as it does. */
const databases: [name: string, open: () => Promise<Kv>][] = [
  ["@deno/kv", openDenoKv],
  ["a database in Deno's mode", () => openKv(":memory:", { compat: "deno" })],
];

const small = { id: "b", name: "", email: "" };

describe.each(databases)("on %s", (_name, open) => {
  const withKv = async (body: (kv: Kv) => Promise<void>) => {
    const kv = await open();
    try {
      await body(kv);
    } finally {
      await kv.close();
    }
  };

  it("rows are created, found, changed and deleted with their index entries", async () => {
    await withKv(async (kv) => {
      const db = await createDatabase({ kv, models: { users: User } });
      const ada = await db.users.create({ data: users.ada });
      await db.users.create({ data: users.bob });
      const twin = db.users.create({ data: { ...users.cyd, email: "ADA@example.com" } });
      expect(await rejection(twin)).toMatchObject({
        code: "KW_UNIQUE_CONSTRAINT",
        index: "byEmail",
        ownerId: ada.id,
      });
      expect(await db.users.findUnique({ where: { email: "ada@EXAMPLE.com" } })).toEqual(ada);
      await db.users.update({ where: { id: ada.id }, data: { favoriteColor: "red" } });
      const red = await db.users.findMany({ where: { favoriteColor: "red" } });
      expect(red.items.map((row) => row.name)).toEqual(["Ada", "Bob"]);
      await expectIndexesToMatch(kv, User);
      await db.users.delete({ where: { id: ada.id } });
      expect(await db.users.findUnique({ where: { id: ada.id } })).toBe(null);
      await expectIndexesToMatch(kv, User);
    });
  });

  it("live streams without events end when the database is closed", async () => {
    const LiveUser = defineModel({ ...User, live: true });
    const kv = await open();
    const db = await createDatabase({ kv, models: { users: LiveUser } });
    const streams = [
      db.users.watchMany({ where: { favoriteColor: "red" } }),
      db.users.watch({ where: { id: "nobody" } }),
    ];
    const readers = streams.map((stream) => stream.getReader() as ReadableStreamDefaultReader);
    const read = () => Promise.all(readers.map((reader) => reader.read()));
    expect((await read()).map(({ value }) => value)).toEqual([[], null]);
    const next = read();
    // The streams wait, long enough that they have looked more than once if nothing happens.
    await Promise.race([next, new Promise((resolve) => setTimeout(resolve, 1500))]);
    await kv.close();
    const end = { done: true, value: undefined };
    expect(await next).toEqual([end, end]);
    await Promise.all(readers.map((reader) => reader.closed));
  });

  it("of many that want one value at once, one gets it", async () => {
    await withKv(async (kv) => {
      const db = await createDatabase({ kv, models: { users: User } });
      const claims = Array.from({ length: 8 }, () => db.users.create({ data: users.ada }));
      const results = await Promise.allSettled(claims);
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      await expectIndexesToMatch(kv, User);
    });
  });

  it.each([
    [
      "a value",
      { name: "x".repeat(70_000) },
      { code: "KW_LIMIT_EXCEEDED", limit: "valueBytes", max: 65_536 },
    ],
    [
      "a key",
      { email: `${"x".repeat(3000)}@example.com` },
      { code: "KW_INDEX_KEY_INVALID", index: "byEmail", field: "email", problem: "length" },
    ],
  ] as const)(
    "%s that is too large is refused, and nothing is written",
    async (_, part, exceeded) => {
      await withKv(async (kv) => {
        const Plain = defineModel({
          name: "plain",
          schema: z.object({ id: z.string(), name: z.string(), email: z.string() }),
          primaryKey: "id",
          indexes: { byEmail: { key: "email" } },
        });
        const db = await createDatabase({ kv, models: { plain: Plain } });
        const data = { id: "a", name: "", email: "", ...part };
        expect(await rejection(db.plain.create({ data }))).toMatchObject(exceeded);
        const within = db.transaction((tx) => tx.plain.create({ data }));
        expect(await rejection(within)).toMatchObject(exceeded);
        const { results } = await db.plain.createMany({ data: [{ ...data, ...small }, data] });
        expect(results).toMatchObject([{ ok: true }, { ok: false, error: exceeded }]);
        expect(await db.plain.count()).toBe(1);
      });
    },
  );

  it("a page continues after its cursor, and a new index is built within the limits", async () => {
    await withKv(async (kv) => {
      const db = await createDatabase({ kv, models: { users: User } });
      for (let age = 0; age < 25; age++) {
        const data = { ...users.ada, name: `Name ${age}`, email: `a${age}@example.com`, age };
        await db.users.create({ data });
      }
      const seen: unknown[] = [];
      let cursor: string | null = null;
      do {
        const page: { items: readonly { age?: number | undefined }[]; cursor: string | null } =
          await db.users.findMany({ where: { favoriteColor: "green" }, take: 7, cursor });
        seen.push(...page.items.map((row) => row.age));
        cursor = page.cursor;
      } while (cursor !== null);
      expect(seen).toEqual(Array.from({ length: 25 }, (_, age) => age));
      const later = await createDatabase({ kv, models: { users: LaterUser } });
      expect((await migrate(later)).status).toBe("done");
      await expectIndexesToMatch(kv, LaterUser);
      const old = await later.users.findMany({ where: { age: { gte: 20 } } });
      expect(old.items.map((row) => row.age)).toEqual([20, 21, 22, 23, 24]);
    });
  });
});
