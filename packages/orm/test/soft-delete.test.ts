import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  defineModel,
  hasMany,
  manyToMany,
  migrate,
} from "../src/index.js";
import { findDanglingReferences, verifyIndexes } from "../src/migrate.js";
import { contextOf } from "./migration-run.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const deletedAt = z.date().nullable().default(null);

const User = defineModel({
  name: "users",
  schema: z.object({
    id: z.string(),
    email: z.string(),
    team: z.string(),
    score: z.int(),
    deletedAt,
  }),
  primaryKey: "id",
  softDelete: "deletedAt",
  count: true,
  sum: ["score"],
  max: ["score"],
  live: true,
  indexes: {
    byEmail: { key: "email", unique: true, include: ["team"] },
    byTeam: { key: ["team", "score"], sum: ["score"], store: "copy" },
  },
  relations: {
    posts: hasMany("posts", "authorId"),
    reviews: hasMany("posts", "reviewerId"),
  },
});
const Post = defineModel({
  name: "posts",
  schema: z.object({
    id: z.string(),
    authorId: z.string(),
    reviewerId: z.string().nullable().default(null),
    slug: z.string(),
    removedAt: z.date().optional(),
  }),
  primaryKey: "id",
  softDelete: "removedAt",
  indexes: {
    byAuthor: { key: "authorId", count: true },
    byReviewer: { key: "reviewerId" },
    bySlug: { key: "slug", unique: true },
  },
  relations: {
    author: belongsTo("users", "authorId", { onDelete: "cascade" }),
    reviewer: belongsTo("users", "reviewerId", { onDelete: "setNull" }),
    tags: manyToMany("tags", { through: "postTags", from: "postId", to: "tagId" }),
  },
});
const Tag = defineModel({
  name: "tags",
  schema: z.object({ id: z.string() }),
  primaryKey: "id",
});
const PostTag = defineModel({
  name: "postTags",
  schema: z.object({ postId: z.string(), tagId: z.string(), deletedAt }),
  primaryKey: ["postId", "tagId"],
  softDelete: "deletedAt",
  indexes: { byTag: { key: "tagId" } },
  relations: {
    post: belongsTo("posts", "postId", { onDelete: "cascade" }),
    tag: belongsTo("tags", "tagId"),
  },
});
const call = async (run: () => unknown) => await run();
const models = { users: User, posts: Post, tags: Tag, postTags: PostTag };

describe("softDelete", () => {
  let kv: EmbeddedKv;

  beforeEach(async () => {
    kv = await openKv();
  });
  afterEach(async () => {
    for (const model of Object.values(models)) await expectIndexesToMatch(kv, model);
    await kv.close();
  });

  const open = () => createDatabase({ kv, models });

  async function withRows() {
    const db = await open();
    const { users, posts, tags, postTags } = db;
    await users.create({ data: { id: "ada", email: "a@x", team: "red", score: 5 } });
    await users.create({ data: { id: "bob", email: "b@x", team: "red", score: 7 } });
    await posts.create({ data: { id: "p1", authorId: "ada", reviewerId: "bob", slug: "one" } });
    await posts.create({ data: { id: "p2", authorId: "bob", reviewerId: "ada", slug: "two" } });
    await tags.create({ data: { id: "t" } });
    await postTags.create({ data: { postId: "p1", tagId: "t" } });
    await postTags.create({ data: { postId: "p2", tagId: "t" } });
    return db;
  }

  it("leaves deleted rows out of every read", async () => {
    const { users, posts, postTags } = await withRows();
    const deleted = await users.delete({ where: { id: "ada" } });
    expect(deleted).toMatchObject({ id: "ada", deletedAt: null });
    expect(await users.findUnique({ where: { id: "ada" } })).toBe(null);
    expect(await users.findUnique({ where: { email: "a@x" }, select: { team: true } })).toBe(null);
    expect(await users.findFirst({ where: { team: "red", score: 5 } })).toBe(null);
    expect((await users.findMany({ where: { team: "red" } })).items).toHaveLength(1);
    expect((await users.scan()).items.map(({ id }) => id)).toEqual(["bob"]);
    expect(await users.count()).toBe(1);
    expect(await users.count({ where: { team: "red" } })).toBe(1);
    expect(await users.count({ where: { id: { in: ["ada", "bob"] } } })).toBe(1);
    expect(await users.exists({ where: { id: { lte: "ada" } } })).toBe(false);
    expect(await users.aggregate({ sum: { score: true }, max: { score: true } })).toEqual({
      sum: { score: 7 },
      max: { score: 7 },
    });
    expect(
      await users.groupBy({ by: ["team"], where: {}, count: true, sum: { score: true } }),
    ).toEqual([{ team: "red", count: 1, sum: { score: 7 } }]);
    expect(await users.distinct({ field: "score", where: { team: "red" } })).toEqual([7]);
    // The posts of the user, and what connects them with tags, are marked with it.
    expect((await posts.scan()).items.map(({ id }) => id)).toEqual(["p2"]);
    expect((await postTags.scan()).items.map(({ postId }) => postId)).toEqual(["p2"]);
    const bob = await users.findUnique({
      where: { id: "bob" },
      include: { posts: { include: { reviewer: true, tags: true } }, reviews: true },
    });
    expect(bob).toMatchObject({ posts: [{ id: "p2", reviewer: null, tags: [{ id: "t" }] }] });
    expect(bob?.reviews).toEqual([]);
    const counted = await users.findUnique({
      where: { id: "bob" },
      include: { _count: { posts: true, reviews: true } },
    });
    expect(counted?._count).toEqual({ posts: 1, reviews: 0 });
  });

  it("treats deleted rows as missing in writes", async () => {
    const { users, posts } = await withRows();
    await users.delete({ where: { id: "ada" } });
    const where = { id: "ada" };
    const missing = { code: "KW_ROW_NOT_FOUND" };
    expect(await rejection(users.update({ where, data: { score: 1 } }))).toMatchObject(missing);
    expect(await rejection(users.delete({ where }))).toMatchObject(missing);
    expect(await rejection(users.delete({ where: { email: "a@x" } }))).toMatchObject(missing);
    expect(
      (await users.updateMany({ where: { id: { in: ["ada"] } }, data: { score: 1 } })).count,
    ).toBe(0);
    const post = { id: "p9", authorId: "ada", slug: "nine" };
    const dangling = await rejection(posts.create({ data: post }));
    expect(dangling).toMatchObject({ code: "KW_REFERENCE_MISSING", targetId: "ada" });
    expect(
      await rejection(posts.update({ where: { id: "p2" }, data: { authorId: "ada" } })),
    ).toMatchObject({ code: "KW_REFERENCE_MISSING" });
    // Its unique values are free, and its primary key is not.
    const data = { id: "ada", email: "a@x", team: "blue", score: 0 };
    for (const write of [
      users.create({ data }),
      users.upsert({ where, create: data, update: { team: "blue" } }),
    ]) {
      const taken = await rejection(write);
      expect(taken).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", index: "primaryKey" });
      expect(taken?.message).toContain("by a row that is marked as deleted");
      expect(taken?.message).toContain("restore");
    }
    await users.create({ data: { ...data, id: "eve" } });
    expect(await users.findUnique({ where: { email: "a@x" } })).toMatchObject({ id: "eve" });
  });

  it("is not data of a write", async () => {
    const { users } = await withRows();
    const data = { id: "eve", email: "e@x", team: "red", score: 0, deletedAt: new Date() };
    const where = { id: "ada" };
    for (const write of [
      users.create({ data }),
      users.update({ where, data: { deletedAt: new Date() } }),
      users.upsert({ where, create: data, update: { deletedAt: new Date() } }),
    ]) {
      const error = await rejection(write);
      expect(error).toMatchObject({ code: "KW_ROW_INVALID", issues: [{ path: ["deletedAt"] }] });
    }
    await users.update({ where, data: { deletedAt: null } });
  });

  it("fills pages although deleted rows are between the others", async () => {
    const { users } = await withRows();
    const data = Array.from({ length: 90 }, (_, i) => ({
      id: `u${String(i).padStart(2, "0")}`,
      email: `${i}@x`,
      team: "green",
      score: 0,
    }));
    await users.createMany({ data });
    await users.deleteMany({
      where: { team: "green" },
      filter: ({ id }) => !["u00", "u40", "u79"].includes(id),
    });
    const where = { id: { gte: "u" } };
    const first = await users.findMany({ where, take: 2 });
    expect(first.items.map(({ id }) => id)).toEqual(["u00", "u40"]);
    const second = await users.findMany({ where, take: 2, cursor: first.cursor });
    expect(second).toMatchObject({ items: [{ id: "u79" }], cursor: null });
    const last = await users.findMany({ where, take: 3 });
    expect(last).toMatchObject({ items: [{}, {}, {}], cursor: null });
    expect(await users.count({ where })).toBe(3);
    const streamed: string[] = [];
    for await (const { id } of users.scan({ withDeleted: true })) streamed.push(id);
    expect(streamed).toHaveLength(92);
  });

  it("withDeleted returns deleted rows by the primary key and in its order", async () => {
    const { users, posts } = await withRows();
    await users.delete({ where: { id: "ada" } });
    const ada = await users.findUnique({ where: { id: "ada" }, withDeleted: true });
    expect(ada?.deletedAt).toBeInstanceOf(Date);
    const all = await users.findMany({ where: { id: { gte: "a" } }, withDeleted: true });
    expect(all.items.map(({ id }) => id)).toEqual(["ada", "bob"]);
    expect(
      (await users.findMany({ orderBy: { id: "desc" }, withDeleted: true })).items,
    ).toHaveLength(2);
    const included = await users.findUnique({
      where: { id: "ada" },
      include: { posts: true },
      withDeleted: true,
    });
    expect(included?.posts).toEqual([]);
    for (const query of [
      // @ts-expect-error: the index leaves deleted rows out.
      () => users.findUnique({ where: { email: "a@x" }, withDeleted: true }),
      // @ts-expect-error: the index leaves deleted rows out.
      () => users.findMany({ where: { team: "red" }, withDeleted: true }),
      // @ts-expect-error: there is no such index for this query.
      () => users.findMany({ index: "byTeam", withDeleted: true }),
      // @ts-expect-error: it is a boolean.
      () => users.scan({ withDeleted: "yes" }),
    ]) {
      const error = await rejection(call(query));
      expect(error).toMatchObject({ code: "KW_ARGUMENT_INVALID", argument: "withDeleted" });
    }
    const { tags } = await open();
    for (const [argument, query] of [
      // @ts-expect-error: the model has no softDelete.
      ["withDeleted", () => tags.findUnique({ where: { id: "t" }, withDeleted: true })],
      // @ts-expect-error: the model has no softDelete.
      ["restore", () => tags.restore({ where: { id: "t" } })],
      // @ts-expect-error: the model has no softDelete.
      ["purge", () => tags.purge({ before: new Date() })],
      // @ts-expect-error: one of both.
      ["argument", () => posts.purge({})],
      // @ts-expect-error: it must be a date.
      ["before", () => posts.purge({ before: 0 })],
      // @ts-expect-error: a deleted row has no unique values.
      ["where", () => posts.restore({ where: { slug: "one" } })],
    ] as const) {
      const error = await rejection(call(query));
      expect(error).toMatchObject({ code: "KW_ARGUMENT_INVALID", argument });
    }
  });

  it("restore brings a row back, and checks its unique values and references", async () => {
    const { users, posts } = await withRows();
    await users.delete({ where: { id: "ada" } });
    await users.create({ data: { id: "eve", email: "a@x", team: "red", score: 0 } });
    const taken = await rejection(users.restore({ where: { id: "ada" } }));
    expect(taken).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", index: "byEmail", ownerId: "eve" });
    const missing = await rejection(posts.restore({ where: { id: "p1" } }));
    expect(missing).toMatchObject({ code: "KW_REFERENCE_MISSING", targetId: "ada" });
    await users.delete({ where: { id: "eve" } });
    const ada = await users.restore({ where: { id: "ada" }, include: { posts: true } });
    expect(ada).toMatchObject({ id: "ada", deletedAt: null, posts: [] });
    expect(await users.restore({ where: { id: "ada" } })).toMatchObject({ id: "ada" });
    const post = await posts.restore({ where: { id: "p1" } });
    expect("removedAt" in post).toBe(false);
    expect(await posts.findMany({ where: { reviewerId: "ada" } })).toMatchObject({
      items: [{ id: "p2" }],
    });
    expect(await users.count()).toBe(2);
    expect(await rejection(users.restore({ where: { id: "nobody" } }))).toMatchObject({
      code: "KW_ROW_NOT_FOUND",
    });
  });

  it("restrict counts only rows that are not deleted", async () => {
    const { tags, postTags } = await withRows();
    expect(await rejection(tags.delete({ where: { id: "t" } }))).toMatchObject({
      code: "KW_ROW_REFERENCED",
    });
    await postTags.deleteMany({ where: { tagId: "t" } });
    await tags.delete({ where: { id: "t" } });
    expect(
      await rejection(postTags.restore({ where: { postId: "p1", tagId: "t" } })),
    ).toMatchObject({ code: "KW_REFERENCE_MISSING" });
  });

  it("purge removes deleted rows for good, and clears references", async () => {
    const { users, posts } = await withRows();
    expect(await rejection(users.purge({ where: { id: "ada" } }))).toMatchObject({
      code: "KW_ROW_NOT_FOUND",
    });
    await users.delete({ where: { id: "ada" } });
    const later = new Date(Date.now() + 1000);
    expect(await users.purge({ before: new Date(0) })).toEqual({ count: 0, failed: [] });
    expect(await users.purge({ before: later })).toEqual({ count: 1, failed: [] });
    expect(await users.findUnique({ where: { id: "ada" }, withDeleted: true })).toBe(null);
    expect(await posts.findUnique({ where: { id: "p2" } })).toMatchObject({ reviewerId: null });
    // The post was marked with its author, and stays marked.
    expect(await posts.findUnique({ where: { id: "p1" }, withDeleted: true })).toMatchObject({
      id: "p1",
    });
    expect(await posts.purge({ where: { id: "p1" } })).toEqual({ count: 1, failed: [] });
    await users.create({ data: { id: "ada", email: "a@x", team: "red", score: 0 } });
  });

  it("reports a deletion and a restoration to live queries", async () => {
    const { users } = await withRows();
    const one = users.watch({ where: { id: "ada" } }).getReader();
    const list = users.watchMany({ where: { team: "red" } }).getReader();
    const ids = async () => (await list.read()).value?.map(({ id }) => id);
    expect((await one.read()).value).toMatchObject({ id: "ada" });
    expect(await ids()).toEqual(["ada", "bob"]);
    await users.delete({ where: { id: "ada" } });
    expect((await one.read()).value).toBe(null);
    expect(await ids()).toEqual(["bob"]);
    await users.restore({ where: { id: "ada" } });
    expect((await one.read()).value).toMatchObject({ id: "ada" });
    expect(await ids()).toEqual(["ada", "bob"]);
    await Promise.all([one.cancel(), list.cancel()]);
  });

  it("works in transactions", async () => {
    const db = await withRows();
    await db.transaction(async ({ users, posts }) => {
      await users.delete({ where: { id: "ada" } });
      expect(await users.findUnique({ where: { id: "ada" } })).toBe(null);
      expect(await posts.count({ where: { authorId: "ada" } })).toBe(0);
      await users.create({ data: { id: "eve", email: "a@x", team: "red", score: 0 } });
      await users.delete({ where: { id: "eve" } });
      await users.restore({ where: { id: "ada" } });
      await posts.purge({ before: new Date(Date.now() + 1000) });
    });
    expect(await db.users.count()).toBe(2);
    expect(await db.posts.findUnique({ where: { id: "p1" }, withDeleted: true })).toBe(null);
  });

  it("expires deleted rows when they would have expired", async () => {
    const { users } = await open();
    await users.create({ data: { id: "x", email: "x@x", team: "red", score: 0 }, expireIn: 1500 });
    await users.delete({ where: { id: "x" } });
    await expect.poll(() => users.findUnique({ where: { id: "x" }, withDeleted: true })).toBe(null);
    await users.create({ data: { id: "x", email: "x@x", team: "red", score: 0 } });
    expect(await users.count()).toBe(1);
  });

  it("is turned on and off by migrate while others read", async () => {
    const fields = { id: z.string(), email: z.string(), deletedAt };
    const base = {
      name: "notes",
      schema: z.object(fields),
      primaryKey: "id",
      count: true,
      indexes: { byEmail: { key: "email", count: true } },
    } as const;
    const Plain = defineModel(base);
    const Soft = defineModel({ ...base, softDelete: "deletedAt" });
    const plain = await createDatabase({ kv, models: { notes: Plain } });
    await migrate(plain);
    // The field was data before, so rows may be marked already.
    const gone = { id: "1", email: "x", deletedAt: new Date(5) };
    await plain.notes.createMany({ data: [gone, { id: "2", email: "x" }] });
    const soft = await createDatabase({ kv, models: { notes: Soft } });
    expect((await soft.notes.findMany({ where: { email: "x" } })).items).toHaveLength(1);
    expect(await soft.notes.count({ where: { email: "x" } })).toBe(1);
    expect(await soft.notes.exists({ where: { email: "y" } })).toBe(false);
    await migrate(soft, { accept: true });
    expect(await rejection(plain.notes.create({ data: { id: "3", email: "x" } }))).toMatchObject({
      code: "KW_STALE_SCHEMA",
    });
    expect(await soft.notes.count()).toBe(1);
    expect(await soft.notes.count({ where: { email: "x" } })).toBe(1);
    expect((await verifyIndexes(soft)).status).toBe("clean");
    // An entry of a deleted row is damage, which repair removes.
    const place = contextOf(soft, "notes").model.indexes[0]!.place;
    await kv.set([place, "x", "1"], "1");
    expect((await verifyIndexes(soft)).status).toBe("damaged");
    await verifyIndexes(soft, { repair: true });
    expect((await verifyIndexes(soft)).status).toBe("clean");
    expect(await soft.notes.count({ where: { email: "x" } })).toBe(1);
    const again = await createDatabase({ kv, models: { notes: Plain } });
    await migrate(again, { accept: true });
    expect((await verifyIndexes(again)).status).toBe("clean");
    expect(await again.notes.count()).toBe(2);
    expect((await again.notes.findMany({ where: { email: "x" } })).items).toHaveLength(2);
    expect([...(await keysUnder("notes_marked_by_deleted_at"))]).toEqual([]);
  });

  async function keysUnder(prefix: string): Promise<unknown[]> {
    const keys: unknown[] = [];
    for await (const { key } of kv.list({ prefix: [prefix] })) keys.push(key);
    return keys;
  }

  it("does not report references of deleted rows as dangling", async () => {
    const db = await withRows();
    await db.users.delete({ where: { id: "ada" } });
    await db.users.purge({ where: { id: "ada" } });
    expect((await findDanglingReferences(db, { model: "posts" })).items).toEqual([]);
    await db.users.delete({ where: { id: "bob" } });
    expect((await findDanglingReferences(db, { model: "posts" })).items).toEqual([]);
  });
});

describe("a definition with softDelete", () => {
  const schema = z.object({ id: z.string(), at: z.date(), gone: z.date().nullable(), n: z.int() });
  const base = { name: "things", schema, primaryKey: "id" } as const;

  it("is refused if the field is no date that rows may lack", () => {
    // @ts-expect-error: rows have it.
    expect(() => defineModel({ ...base, softDelete: "at" })).toThrow(/nullable or optional/);
    // @ts-expect-error: it is no date.
    expect(() => defineModel({ ...base, softDelete: "n" })).toThrow(/must be a date/);
    // @ts-expect-error: it does not exist.
    expect(() => defineModel({ ...base, softDelete: "nope" })).toThrow(/no field "nope"/);
    const indexes = { byGone: { key: ["n", "gone"] } } as const;
    expect(() => defineModel({ ...base, softDelete: "gone", indexes })).toThrow(/marks deleted/);
  });

  it("is refused if a cascade would lose rows", async () => {
    const Parent = defineModel({ ...base, softDelete: "gone" });
    const Child = defineModel({
      name: "children",
      schema: z.object({ id: z.string(), thing: z.string() }),
      primaryKey: "id",
      indexes: { byThing: { key: "thing" } },
      relations: { parent: belongsTo("things", "thing", { onDelete: "cascade" }) },
    });
    const kv = await openKv();
    try {
      const error = await rejection(
        createDatabase({ kv, models: { things: Parent, children: Child } }),
      );
      expect(error?.message).toMatch(/restore of things cannot bring back/);
    } finally {
      await kv.close();
    }
  });
});
