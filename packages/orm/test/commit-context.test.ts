import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { rowsOf } from "../src/codegen.js";
import { belongsTo, createDatabase, defineModel, hasMany } from "../src/index.js";

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
