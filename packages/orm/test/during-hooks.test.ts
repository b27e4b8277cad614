import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  type DatabaseOptions,
  defineModel,
  hasMany,
} from "../src/index.js";
import { denoKv, interferingKv } from "./faulty-kv.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), email: z.string(), score: z.int().default(0) }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true } },
  relations: { posts: hasMany("posts", "author") },
});
const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), author: z.string() }),
  primaryKey: "id",
  indexes: { byAuthor: { key: "author" } },
  relations: { writer: belongsTo("users", "author", { onDelete: "cascade" }) },
});
const Audit = defineModel({
  name: "audit",
  schema: z.object({ id: z.ulid(), text: z.string() }),
  primaryKey: "id",
});
const Total = defineModel({
  name: "totals",
  schema: z.object({ id: z.string(), score: z.int(), users: z.int() }),
  primaryKey: "id",
});
const models = { users: User, posts: Post, audit: Audit, totals: Total };
type Hooks = NonNullable<DatabaseOptions<typeof models>["hooks"]>;

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

/** Writes what happens to the audit, and keeps totals that depend on what was there before. */
const auditing: Hooks = {
  users: {
    duringCreate: async (row, { tx }) => {
      await tx.audit.create({ data: { text: `create ${row.id}` } });
      const where = { id: "all" };
      const total = await tx.totals.findUnique({ where });
      const { users = 0, score = 0 } = total ?? {};
      const data = { users: users + 1, score: score + row.score };
      await tx.totals.upsert({ where, create: { id: "all", ...data }, update: data });
    },
    duringUpdate: async (row, before, { tx }) => {
      await tx.audit.create({ data: { text: `update ${row.id} ${before.score}-${row.score}` } });
      const change = row.score - before.score;
      await tx.totals.update({ where: { id: "all" }, data: { score: { increment: change } } });
    },
    duringDelete: async (row, { tx }) => {
      expect(await tx.users.findUnique({ where: { id: row.id } })).toBeNull();
      await tx.audit.create({ data: { text: `delete ${row.id}` } });
    },
  },
  posts: {
    duringDelete: async (row, { tx }) => {
      await tx.audit.create({ data: { text: `delete post ${row.id}` } });
    },
  },
};

const open = (hooks: Hooks = auditing, on: Kv = kv) => createDatabase({ kv: on, models, hooks });
type Db = Awaited<ReturnType<typeof open>>;
const auditOf = async (db: Db) => (await db.audit.scan()).items.map(({ text }) => text);
const totalOf = (db: Db) => db.totals.findUnique({ where: { id: "all" } });
const newUser = (id: string, score = 0) => ({ id, email: `${id}@x`, score });

it("are part of the commit of each write", async () => {
  const db = await open();
  const where = { id: "a" };
  const created = await db.users.create({ data: newUser("a", 1), withVersionstamp: true });
  const read = await db.users.findUnique({ where, withVersionstamp: true });
  expect(created).toEqual(read);
  await db.users.update({ where, data: { score: 3 } });
  await db.users.upsert({ where, create: newUser("a"), update: { score: 4 } });
  await db.users.upsert({ where: { id: "b" }, create: newUser("b", 5), update: {} });
  await db.posts.create({ data: { id: "p", author: "a" } });
  expect(await db.users.delete({ where })).toMatchObject({ id: "a", score: 4 });
  await db.users.deleteMany({ filter: () => true });
  expect(await auditOf(db)).toEqual([
    "create a",
    "update a 1-3",
    "update a 3-4",
    "create b",
    "delete post p",
    "delete a",
    "delete b",
  ]);
  expect(await totalOf(db)).toMatchObject({ users: 2, score: 9 });
  const last = await db.users.create({ data: newUser("c"), withVersionstamp: true });
  const { items } = await db.audit.scan({
    withVersionstamp: true,
    orderBy: { id: "desc" },
    take: 1,
  });
  expect(items[0]).toMatchObject({ row: { text: "create c" }, versionstamp: last.versionstamp });
});

it("write nothing if they or the write fails", async () => {
  const db = await open({
    users: {
      ...auditing.users,
      duringCreate: async (row, context) => {
        await auditing.users?.duringCreate?.(row, context);
        if (row.score < 0) throw new Error("too low");
      },
    },
  });
  await db.users.create({ data: newUser("a", 1) });
  const low = db.users.create({ data: newUser("low", -1) });
  expect((await rejection(low)).message).toBe("too low");
  const taken = db.users.create({ data: { ...newUser("b"), email: "a@x" } });
  expect(await rejection(taken)).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT" });
  const { results, count } = await db.users.createMany({
    data: [newUser("c", 2), newUser("d", -2), { ...newUser("e"), email: "a@x" }],
  });
  expect([count, results.map(({ ok }) => ok)]).toEqual([1, [true, false, false]]);
  const data = [newUser("f"), newUser("a"), newUser("g")];
  expect(await db.users.createMany({ data, skipDuplicates: true })).toMatchObject({ skipped: 1 });
  const all = { data: [newUser("h"), newUser("a")], atomic: true } as const;
  expect(await db.users.createMany({ ...all, skipDuplicates: true })).toMatchObject({ skipped: 1 });
  await rejection(db.users.createMany(all));
  const ids = ["a", "c", "f", "g", "h"];
  expect(await auditOf(db)).toEqual(ids.map((id) => `create ${id}`));
  expect(await totalOf(db)).toMatchObject({ users: 5, score: 3 });
  await expectIndexesToMatch(kv, User);
});

it("are part of the caller's transaction", async () => {
  const db = await open();
  await db.transaction(async (tx) => {
    await tx.users.create({ data: newUser("a", 1) });
    await rejection(tx.users.create({ data: newUser("a", 1) }));
    expect(await tx.totals.findUnique({ where: { id: "all" } })).toMatchObject({ users: 1 });
    expect(await totalOf(db)).toBeNull();
  });
  const failing = db.transaction(async (tx) => {
    await tx.users.create({ data: newUser("b", 1) });
    throw new Error("given up");
  });
  await rejection(failing);
  expect(await auditOf(db)).toEqual(["create a"]);
  expect(await totalOf(db)).toMatchObject({ users: 1, score: 1 });
});

it.each([
  ["an embedded database", (on: Kv) => on],
  ["a database with Deno's limits", denoKv],
])("are exact beside concurrent writers, on %s", async (_, wrap) => {
  const databases = await Promise.all([1, 2, 3].map(() => open(auditing, wrap(kv))));
  await Promise.all(
    databases.flatMap((db, i) =>
      [1, 2, 3].map(async (j) => {
        const id = `${i}${j}`;
        await db.users.create({ data: newUser(id, 1) });
        await db.users.update({ where: { id }, data: { score: { increment: j } } });
      }),
    ),
  );
  const [db] = databases;
  const { items } = await db!.users.scan();
  const score = items.reduce((sum, row) => sum + row.score, 0);
  expect(await totalOf(db!)).toMatchObject({ users: 9, score });
  expect(score).toBe(9 + 3 * 6);
  expect(await db!.audit.scan()).toMatchObject({ items: { length: 18 } });
});

it.each<[string, (db: Db) => Promise<{ readonly score: number }>]>([
  ["in a commit of its own", (db) => db.users.delete({ where: { email: "a@x" } })],
  ["in a transaction", (db) => db.transaction((tx) => tx.users.delete({ where: { id: "a" } }))],
])("may change a row that is deleted after the rows that refer to it: %s", async (_, remove) => {
  const db = await open({
    posts: {
      duringDelete: async ({ author: id }, { tx }) => {
        await tx.users.update({ where: { id }, data: { score: { increment: 1 } } });
      },
    },
  });
  await db.users.create({ data: newUser("a", 1) });
  await db.posts.createMany({ data: ["p", "q"].map((id) => ({ id, author: "a" })) });
  expect(await remove(db)).toMatchObject({ id: "a", score: 3 });
  expect(await db.users.scan()).toMatchObject({ items: [] });
  await expectIndexesToMatch(kv, User);
});

it("run again if others change what they have read, and see the row as it is then", async () => {
  const plain = await createDatabase({ kv, models });
  await plain.users.create({ data: newUser("a", 1) });
  await plain.totals.create({ data: { id: "all", users: 1, score: 1 } });
  const where = { id: "a" };
  let turns = 0;
  const racing = interferingKv(kv, async () => {
    if (turns++ === 0) await plain.users.update({ where, data: { score: 10 } });
  });
  const seen: number[][] = [];
  const db = await open(
    {
      users: {
        duringUpdate: (row, before) => {
          seen.push([before.score, row.score]);
        },
      },
    },
    racing,
  );
  await db.users.update({ where, data: { score: { increment: 1 } } });
  expect(seen).toEqual([
    [1, 2],
    [10, 11],
  ]);
});

it("may not write through the database itself, and have types", async () => {
  const outside: Db = await createDatabase({ kv, models });
  const db: Db = await open({
    users: {
      duringCreate: async () => {
        await db.audit.create({ data: { text: "outside" } });
      },
      // @ts-expect-error the transaction has the models of the database
      duringUpdate: async (_, __, { tx }) => void (await tx.nope.create({})),
      // @ts-expect-error a row has the fields of the schema
      duringDelete: (row) => row.nope,
    },
  });
  const error = await rejection(db.users.create({ data: newUser("a") }));
  expect(error).toMatchObject({ code: "KW_TRANSACTION_BYPASSED" });
  expect(await auditOf(outside)).toEqual([]);
});

it("within a scope see only its rows, and write other models too", async () => {
  const Task = defineModel({
    name: "tasks",
    schema: z.object({ tenant: z.string(), id: z.string(), done: z.boolean().default(false) }),
    primaryKey: ["tenant", "id"],
  });
  const seen: string[][] = [];
  const db = await createDatabase({
    kv,
    models: { tasks: Task, audit: Audit },
    hooks: {
      tasks: {
        duringCreate: async (row, { tx }) => {
          const { items } = await tx.tasks.scan();
          seen.push(items.map(({ tenant, id }) => tenant + id));
          await tx.audit.create({ data: { text: `task ${row.id}` } });
        },
      },
    },
  });
  await db.tasks.create({ data: { tenant: "a", id: "1" } });
  const scoped = db.scope({ tenant: "b" });
  await scoped.tasks.create({ data: { id: "2" } });
  expect(seen).toEqual([["a1"], ["b2"]]);
  expect((await db.audit.scan()).items.map(({ text }) => text)).toEqual(["task 1", "task 2"]);
});

it("run for rows that are marked as deleted, and not when these are purged", async () => {
  const Note = defineModel({
    name: "notes",
    schema: z.object({ id: z.string(), deletedAt: z.date().nullish() }),
    primaryKey: "id",
    softDelete: "deletedAt",
  });
  const seen: string[] = [];
  const db = await createDatabase({
    kv,
    models: { notes: Note },
    hooks: {
      notes: {
        duringDelete: async ({ id }, { tx }) => {
          seen.push(id);
          expect(await tx.notes.findUnique({ where: { id } })).toBeNull();
        },
      },
    },
  });
  await db.notes.create({ data: { id: "a" } });
  await db.notes.delete({ where: { id: "a" } });
  const marked = { where: { id: "a" }, withDeleted: true } as const;
  expect(await db.notes.findUnique(marked)).not.toBeNull();
  await db.notes.purge({ where: { id: "a" } });
  expect(await db.notes.findUnique(marked)).toBeNull();
  expect(seen).toEqual(["a"]);
});

it("list a purge as failed if one of a referrer does not find another row", async () => {
  const User = defineModel({
    name: "users",
    schema: z.object({ id: z.string(), deletedAt: z.date().nullish() }),
    primaryKey: "id",
    softDelete: "deletedAt",
  });
  const Post = defineModel({
    name: "posts",
    schema: z.object({ id: z.string(), reviewerId: z.string().nullable() }),
    primaryKey: "id",
    indexes: { byReviewer: { key: "reviewerId" } },
    relations: { reviewer: belongsTo("users", "reviewerId", { onDelete: "setNull" }) },
  });
  const db = await createDatabase({
    kv,
    models: { users: User, posts: Post },
    hooks: {
      posts: {
        duringUpdate: async (_, __, { tx }) => {
          await tx.users.delete({ where: { id: "unknown" } });
        },
      },
    },
  });
  await db.users.create({ data: { id: "ada" } });
  await db.posts.create({ data: { id: "p", reviewerId: "ada" } });
  await db.users.delete({ where: { id: "ada" } });
  expect(await db.users.purge({ before: new Date(Date.now() + 1000) })).toEqual({
    count: 0,
    failed: [{ id: "ada", error: expect.objectContaining({ code: "KW_ROW_NOT_FOUND" }) }],
  });
});
