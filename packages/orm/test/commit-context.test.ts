import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { rowsOf } from "../src/codegen.js";
import { belongsTo, createDatabase, defineModel, hasMany } from "../src/index.js";
import { kvWithContext } from "../src/state/context/kv/kv-with-context.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), tenant: z.string(), name: z.string() }),
  primaryKey: "id",
  relations: { posts: hasMany("posts", "authorId") },
});
const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), authorId: z.string() }),
  primaryKey: "id",
  indexes: { byAuthor: { key: "authorId" } },
  relations: { author: belongsTo("users", "authorId", { onDelete: "cascade" }) },
});
const models = { users: User, posts: Post };

describe("withContext", () => {
  let kv: EmbeddedKv;

  beforeEach(async () => {
    kv = await openKv(":memory:", { log: { keep: "7 days" } });
  });

  afterEach(() => kv.close());

  async function contextsAfter(after?: string): Promise<unknown[]> {
    const contexts: unknown[] = [];
    for await (const { context } of kv.changes({ after, live: false })) contexts.push(context);
    return contexts;
  }

  it("reads as the database does", async () => {
    expect(kvWithContext(kv, { actor: "ada" }).pages).toBe(kv.pages);
    const db = await createDatabase({ kv, models });
    const ids = Array.from({ length: 5 }, (_, i) => String(i));
    const data = ids.map((id) => ({ id, tenant: "a", name: id }));
    await db.users.createMany({ data });
    const posts = ids.slice(1).flatMap((authorId) => ids.map((id) => `${authorId}-${id}`));
    await db.posts.createMany({ data: posts.map((id) => ({ id, authorId: id[0]! })) });
    const by = db.withContext({ actor: "ada" });
    const orderBy = { id: "asc" } as const;
    for (const reads of [db, by]) {
      const { items } = await reads.users.findMany({ orderBy, include: { posts: true } });
      expect(items.map((user) => user.posts.length)).toEqual([0, 5, 5, 5, 5]);
      const counted = await reads.users.findMany({
        orderBy,
        include: { _count: { posts: true } },
      });
      expect(counted.items.map(({ _count }) => _count.posts)).toEqual([0, 5, 5, 5, 5]);
      const where = { posts: { some: {} } };
      const writing = await reads.users.findMany({ where, orderBy });
      expect(writing.items.map(({ id }) => id)).toEqual(["1", "2", "3", "4"]);
      const { items: own } = await reads.posts.findMany({ where: { authorId: "2" } });
      expect(own.map(({ id }) => id)).toEqual(posts.filter((id) => id.startsWith("2")));
      expect(await reads.posts.findUnique({ where: { id: "2-3" } })).toEqual(own[3]);
    }
    await kv.close();
    await expect(by.users.findMany({ orderBy })).rejects.toMatchObject({
      code: "KW_DATABASE_CLOSED",
    });
  });

  it("says something of every commit of the database that it returns", async () => {
    const db = await createDatabase({ kv, models });
    let after: string | undefined;
    for await (const { versionstamp } of kv.changes({ live: false })) after = versionstamp;
    const context = { actor: "ada", reason: "import" };
    const by = db.withContext(context);
    context.actor = "changed later";
    const said = { actor: "ada", reason: "import" };
    await by.users.create({ data: { id: "1", tenant: "a", name: "Ada" } });
    await by.users.update({ where: { id: "1" }, data: { name: "Ada L." } });
    await by.users.upsert({
      where: { id: "2" },
      create: { id: "2", tenant: "b", name: "Bob" },
      update: {},
    });
    await by.users.createMany({ data: [{ id: "3", tenant: "a", name: "Cy" }] });
    await by.users.updateMany({ filter: () => true, data: { name: "all" } });
    await by.transaction(async (tx) => {
      await tx.users.update({ where: { id: "2" }, data: { name: "Bob" } });
      await tx.posts.create({ data: { id: "1", authorId: "1" } });
    });
    await by.scope({ tenant: "a" }).users.update({ where: { id: "3" }, data: { name: "Cy" } });
    await db
      .scope({ tenant: "a" })
      .withContext(said)
      .users.delete({ where: { id: "3" } });
    await by.users.update({
      where: { id: "1" },
      data: { name: "nested", posts: { create: [{ id: "2" }] } },
    });
    await by.users.delete({ where: { id: "1" } });
    const contexts = await contextsAfter(after);
    expect(contexts.length).toBe(10);
    for (const each of contexts) expect(each).toEqual(said);
    expect(await db.posts.count()).toBe(0);
  });

  it("says nothing of work in the background that its commits begin", async () => {
    const schema = z.object({ id: z.int() });
    const Player = defineModel({
      name: "players",
      schema,
      primaryKey: "id",
      indexes: { byId: { key: "id", ranked: true } },
    });
    const Session = defineModel({ name: "sessions", schema, primaryKey: "id", count: true });
    const db = await createDatabase({ kv, models: { players: Player, sessions: Session } });
    await db.sessions.create({ data: { id: -1 }, expireIn: 30 });
    await new Promise((resolve) => setTimeout(resolve, 60));
    let after: string | undefined;
    for await (const { versionstamp } of kv.changes({ live: false })) after = versionstamp;
    const by = db.withContext("said");
    for (let id = 0; id < 120; id++) await by.sessions.create({ data: { id }, expireIn: 1e7 });
    for (let id = 0; id < 300; id++) await by.players.create({ data: { id } });
    const upkeep = { sessions: 0, players: 0 };
    for await (const { context, changes } of kv.changes({ after, live: false })) {
      const models = Object.keys(upkeep) as (keyof typeof upkeep)[];
      const isRowOf = (name: string) => changes.some(({ key }) => key[0] === name);
      const isOfCall = models.some(isRowOf) && changes.some(({ type }) => type !== "expire");
      expect(context).toBe(isOfCall ? "said" : undefined);
      for (const name of models)
        if (!isOfCall && JSON.stringify(changes.map(({ key }) => key)).includes(name))
          upkeep[name]++;
    }
    expect(upkeep.sessions).toBeGreaterThan(0);
    expect(upkeep.players).toBeGreaterThan(0);
  });

  it("leaves the database that it was called on, and is replaced by another one", async () => {
    const db = await createDatabase({ kv, models });
    const by = db.withContext("first").withContext(["second", 2n]);
    await by.users.create({ data: { id: "1", tenant: "a", name: "Ada" } });
    await db.users.create({ data: { id: "2", tenant: "a", name: "Bob" } });
    expect((await contextsAfter()).slice(-2)).toEqual([["second", 2n], undefined]);
  });

  it("also applies to generated repositories", async () => {
    const db = await createDatabase({ kv, models });
    const users = rowsOf(db.withContext("said"), "users");
    await users.create({ data: { id: "1", tenant: "a", name: "Ada" } });
    expect((await contextsAfter()).at(-1)).toBe("said");
  });

  it("writes within a transaction of the same database are refused", async () => {
    const db = await createDatabase({ kv, models });
    const data = { id: "1", tenant: "a", name: "Ada" };
    const writing = db.transaction(async () => await db.withContext("x").users.create({ data }));
    await expect(writing).rejects.toMatchObject({ code: "KW_TRANSACTION_BYPASSED" });
    const other = db.withContext("x").transaction(async () => await db.users.create({ data }));
    await expect(other).rejects.toMatchObject({ code: "KW_TRANSACTION_BYPASSED" });
  });

  it("refuses a value that cannot be stored", async () => {
    const db = await createDatabase({ kv, models });
    expect(() => db.withContext({ actor: () => "ada" })).toThrow(
      expect.objectContaining({ code: "KW_ARGUMENT_INVALID", argument: "context" }),
    );
  });

  it("changes nothing without a log", async () => {
    await using plain = await openKv(":memory:");
    const db = await createDatabase({ kv: plain, models });
    const data = { id: "1", tenant: "a", name: "Ada" };
    await db.withContext("said").users.create({ data });
    expect(await db.users.findUnique({ where: { id: "1" } })).toEqual(data);
  });
});
