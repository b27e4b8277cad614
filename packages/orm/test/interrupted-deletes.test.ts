import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  type DatabaseOptions,
  defineModel,
  resumeDeletes,
} from "../src/index.js";
import { Crash, crashingKv, denoKv, interferingKv } from "./faulty-kv.js";
import { rejection } from "./user-model.js";
import { expectReferencesToHold } from "./verify-references.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), name: z.string().default("") }),
  primaryKey: "id",
});
const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), userId: z.string() }),
  primaryKey: "id",
  indexes: { byUser: { key: "userId" } },
  relations: { user: belongsTo("users", "userId", { onDelete: "cascade" }) },
});
const models = { users: User, posts: Post };
const where = { id: "a" };
const posts = 30;
const start = 1_800_000_000_000;

type Hooks = NonNullable<DatabaseOptions<typeof models>["hooks"]>;

let kv: EmbeddedKv;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  kv = await openKv();
});
afterEach(async () => {
  await kv.close();
  vi.useRealTimers();
});

const open = (on: Kv = kv, hooks: Hooks = {}) => createDatabase({ kv: on, models, hooks });
type Blog = Awaited<ReturnType<typeof open>>;

const passes = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);
const jobKey = ["__keywright", "cascade", "users", "a"];
const isBegun = async () => (await kv.get(jobKey)).versionstamp !== null;

async function fill(db: Blog, expireIn?: number): Promise<void> {
  await db.users.create({ data: { id: "a" }, ...(expireIn !== undefined && { expireIn }) });
  const data = Array.from({ length: posts }, (_, i) => ({ id: `p${i}`, userId: "a" }));
  await db.posts.createMany({ data });
}

/** Begins to delete the user in steps, by a program that dies of it. */
async function begin(): Promise<void> {
  const mortal = await open(crashingKv(denoKv(kv), 3, "after"));
  await expect(mortal.users.delete({ where })).rejects.toBeInstanceOf(Crash);
  expect(await isBegun()).toBe(true);
}

describe("a delete that was begun", () => {
  it("ends with the row where the database does not tell when that expires", async () => {
    const deleter = await open(crashingKv(denoKv(kv), 3, "after"));
    // The deleter does not know yet that such rows are there.
    await fill(await open(denoKv(kv)), 1000);
    await expect(deleter.users.delete({ where })).rejects.toBeInstanceOf(Crash);
    expect(await kv.get(jobKey)).toMatchObject({ expireAt: start + 1000 });
  });

  it.each([
    ["create", (db: Blog) => db.users.create({ data: { id: "a", name: "new" } })],
    ["createMany", (db: Blog) => db.users.createMany({ data: [{ id: "a", name: "new" }] })],
    [
      "upsert",
      (db: Blog) => db.users.upsert({ where, create: { id: "a", name: "new" }, update: {} }),
    ],
    [
      "a transaction",
      (db: Blog) => db.transaction((tx) => tx.users.create({ data: { id: "a", name: "new" } })),
    ],
  ] as const)("is not one of a row that has its key later, by %s", async (_, create) => {
    const db = await open();
    await fill(db);
    await begin();
    await db.users.update({ where, data: {}, expireIn: 50 });
    passes(50);
    await create(db);
    expect(await isBegun()).toBe(false);
    expect(await resumeDeletes(db)).toEqual({ finished: 0, failed: [] });
    expect((await db.users.findUnique({ where }))?.name).toBe("new");
  });

  it("continues after an error that does not concern the row", async () => {
    const db = await open();
    await fill(db);
    let commits = 0;
    const reset = interferingKv(denoKv(kv), async () => {
      if (++commits === 3) throw new Error("connection reset");
    });
    const deleter = await open(reset);
    expect((await rejection(deleter.users.delete({ where }))).message).toBe("connection reset");
    expect(await isBegun()).toBe(true);
    commits = 1;
    expect(await resumeDeletes(deleter)).toMatchObject({ finished: 0, failed: [{ id: "a" }] });
    expect(await isBegun()).toBe(true);
    expect(await resumeDeletes(db)).toEqual({ finished: 1, failed: [] });
    expect([await db.users.count(), await db.posts.count()]).toEqual([0, 0]);
  });

  it("stays begun where a program with another schema cannot finish it", async () => {
    const db = await open();
    await fill(db);
    await begin();
    const indexes = { ...Post.indexes, byId: { key: (post: { id: string }) => post.id } };
    const { name, schema, primaryKey, relations } = Post;
    const NewPost = defineModel({ name, schema, primaryKey, relations, indexes });
    const old = await open();
    const stored = await kv.get(["__keywright", "catalog", "posts"]);
    const entry = stored.value as { indexes: Record<string, unknown> };
    const { indexes: added } = await newEntry({ users: User, posts: NewPost });
    await kv.set(stored.key, { ...entry, indexes: { ...entry.indexes, byId: added.byId } });
    const { failed } = await resumeDeletes(old);
    expect(failed).toMatchObject([{ error: { code: "KW_STALE_SCHEMA" } }]);
    expect(await isBegun()).toBe(true);
  });
});

/** The catalog entry of posts that a program makes on a database of its own. */
async function newEntry(
  own: Parameters<typeof createDatabase>[0]["models"],
): Promise<{ indexes: Record<string, unknown> }> {
  const other = await openKv();
  try {
    await createDatabase({ kv: other, models: own });
    const { value } = await other.get(["__keywright", "catalog", "posts"]);
    return value as { indexes: Record<string, unknown> };
  } finally {
    await other.close();
  }
}

describe.each([
  ["in one commit", (on: Kv) => on, "Total mutation size too large (max 819200 bytes)"],
  ["in steps", denoKv, "Value too large (max 65536 bytes)"],
] as const)("what a hook throws of a delete %s", (_, wrap, text) => {
  it("after the write belongs to the hook, whatever its class", async () => {
    const thrown = new TypeError(text);
    let calls = 0;
    const afterDelete = () => {
      calls++;
      throw thrown;
    };
    const db = await open(wrap(kv), { users: { afterDelete }, posts: { afterDelete } });
    await fill(db);
    expect(await rejection(db.users.delete({ where }))).toBe(thrown);
    expect(calls).toBe(posts + 1);
    expect([await db.users.count(), await db.posts.count()]).toEqual([0, 0]);
    expect(await isBegun()).toBe(false);
  });

  it("before a write is the hook's, too", async () => {
    const thrown = new TypeError(text);
    let calls = 0;
    const beforeDelete = () => {
      if (++calls === 12) throw thrown;
    };
    const db = await open(wrap(kv), { posts: { beforeDelete } });
    await fill(db);
    expect(await rejection(db.users.delete({ where }))).toBe(thrown);
    expect(calls).toBe(12);
    expect(await db.users.count()).toBe(1);
    expect(await isBegun()).toBe(false);
  });
});

it("what a hook throws of one row is that row's, in calls of many", async () => {
  const missing = await rejection(
    (await open()).posts.create({ data: {} as never, maxReads: 1 } as never),
  );
  expect(missing.code).toBe("KW_ARGUMENT_INVALID");
  const db = await open(kv, {
    posts: {
      beforeUpdate: (_, before) => {
        if (before.id === "p3") throw missing;
      },
    },
  });
  await fill(db);
  const { count, results } = await db.posts.updateMany({ where: { userId: "a" }, data: {} });
  expect(count).toBe(posts - 1);
  expect(results.filter((result) => !result.ok)).toMatchObject([{ id: "p3", error: missing }]);
});

describe("a reference that is to be cleared", () => {
  const child = <S extends z.ZodType>(userId: S) =>
    defineModel({
      name: "posts",
      schema: z.object({ id: z.string(), userId }),
      primaryKey: "id",
      indexes: { byUser: { key: "userId" } },
      relations: { user: belongsTo("users", "userId", { onDelete: "setNull" }) },
    } as never) as unknown as typeof Post;

  it.each([
    [
      "optional",
      z
        .string()
        .optional()
        .refine(async () => true),
      undefined,
    ],
    [
      "nullable",
      z
        .string()
        .nullable()
        .refine(async () => true),
      null,
    ],
    ["exactly optional", z.exactOptional(z.string()), undefined],
    ["either", z.string().nullish(), null],
    [
      "a string or undefined",
      z.union([z.string(), z.undefined()]).refine(async () => true),
      undefined,
    ],
  ] as const)("is, where its field is %s", async (_name, userId, left) => {
    const own = { users: User, posts: child(userId) };
    const db = await createDatabase({ kv, models: own });
    await fill(db);
    await db.users.delete({ where });
    expect(await db.users.count()).toBe(0);
    const { items } = await db.posts.scan();
    expect(items).toHaveLength(posts);
    expect(new Set(items.map((post) => post.userId))).toEqual(new Set([left]));
    await expectReferencesToHold(kv, own);
  });

  it.each([
    [
      "its schema refuses that",
      z
        .string()
        .nullable()
        .refine(async (id) => id !== null),
    ],
    ["its schema makes it another", z.preprocess(async (id) => id ?? "a", z.string())],
  ])("keeps the row where %s", async (_name, userId) => {
    const own = { users: User, posts: child(userId) };
    const db = await createDatabase({ kv, models: own });
    await fill(db);
    expect((await rejection(db.users.delete({ where }))).code).toMatch(
      /KW_ROW_INVALID|KW_ROW_REFERENCED/,
    );
    expect(await db.users.count()).toBe(1);
    await expectReferencesToHold(kv, own);
  });

  it("keeps the row where a hook leaves it", async () => {
    const own = { users: User, posts: child(z.string().optional()) };
    const hooks = { posts: { beforeUpdate: () => ({}) } };
    const db = await createDatabase({ kv, models: own, hooks });
    await fill(db);
    expect(await rejection(db.users.delete({ where }))).toMatchObject({
      code: "KW_ROW_REFERENCED",
      model: "users",
      id: "a",
      by: { model: "posts", relation: "user", id: "p0" },
    });
    expect(await db.users.count()).toBe(1);
  });
});
