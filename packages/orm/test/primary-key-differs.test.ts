import { type Kv, openKv } from "@keywright/core";
import { afterAll, expect, it } from "vitest";
import * as z from "zod";
import { adopt, guideLayout } from "../src/adopt.js";
import { rowsOf } from "../src/codegen.js";
import {
  belongsTo,
  createDatabase,
  defineModel,
  hasMany,
  migrate,
  PrimaryKeyDiffersError,
} from "../src/index.js";
import { findDanglingReferences, verifyIndexes } from "../src/migrate.js";
import type { AnyDatabase } from "../src/state/context/any-database.js";

const users = { name: "users", schema: z.object({ id: z.string(), email: z.string() }) } as const;
const posts = {
  name: "posts",
  schema: z.object({ id: z.string(), authorId: z.string() }),
  primaryKey: "id",
  indexes: { byAuthorId: { key: "authorId" } },
} as const;
const User = defineModel({ ...users, primaryKey: "id" });
const UserByEmail = defineModel({
  ...users,
  primaryKey: "email",
  relations: { posts: hasMany("posts", "authorId") },
});
const Post = defineModel({
  ...posts,
  relations: { author: belongsTo("users", "authorId", { onDelete: "cascade" }) },
});

const ada = { id: "u1", email: "ada@example.com" };

async function withOtherKey(
  test: (db: Awaited<ReturnType<typeof openOther>>, kv: Kv) => Promise<void>,
): Promise<void> {
  const kv = await openKv();
  try {
    const before = await createDatabase({ kv, models: { users: User, posts: Post } });
    await before.users.create({ data: ada });
    await before.posts.create({ data: { id: "p1", authorId: "u1" } });
    await test(await openOther(kv), kv);
  } finally {
    await kv.close();
  }
}

const openOther = (kv: Kv) => createDatabase({ kv, models: { users: UserByEmail, posts: Post } });
type Other = Awaited<ReturnType<typeof openOther>>;

const emptyKv = await openKv();
afterAll(() => emptyKv.close());
const where = { email: ada.email };
const calls: readonly (readonly [string, (db: Other) => PromiseLike<unknown>])[] = [
  ["findUnique", (db) => db.users.findUnique({ where })],
  ["findUniqueOrThrow", (db) => db.users.findUniqueOrThrow({ where })],
  ["findFirst", (db) => db.users.findFirst({ where })],
  ["findMany", (db) => db.users.findMany({ where })],
  ["findMany as a stream", (db) => db.users.findMany({ where })[Symbol.asyncIterator]().next()],
  ["scan", (db) => db.users.scan()],
  ["count", (db) => db.users.count()],
  ["exists", (db) => db.users.exists({ where })],
  ["explain", (db) => db.users.explain({ where })],
  ["watch", (db) => db.users.watch({ where }).getReader().read()],
  ["watchMany", (db) => db.users.watchMany({ where }).getReader().read()],
  ["create", (db) => db.users.create({ data: ada })],
  ["createMany", (db) => db.users.createMany({ data: [ada], atomic: true })],
  ["update", (db) => db.users.update({ where, data: { id: "u2" } })],
  ["updateMany", (db) => db.users.updateMany({ where, data: { id: "u2" } })],
  ["upsert", (db) => db.users.upsert({ where, create: ada, update: {} })],
  ["delete", (db) => db.users.delete({ where })],
  ["deleteMany", (db) => db.users.deleteMany({ where })],
  ["include", (db) => db.posts.findMany({ where: { id: "p1" }, include: { author: true } })],
  ["a reference", (db) => db.posts.create({ data: { id: "p2", authorId: ada.email } })],
  ["verify", (db) => verifyIndexes(db)],
  ["findDanglingReferences", (db) => findDanglingReferences(db, { model: "posts" })],
  ["adopt", (db) => adopt(db, { from: emptyKv, models: { users: guideLayout(UserByEmail) } })],
  ["a generated get", (db) => generated(db).findUnique({ where: { email: ada.email } })],
  ["generated related rows", (db) => generated(db).loadRelatedOfEach("posts", [ada])],
  ["a generated create", (db) => generated(db).create({ data: ada })],
  ["a transaction", (db) => db.transaction((tx) => tx.users.findUnique({ where }))],
];

it.each(calls)("refuses %s if the database has another primary key", async (_, call) => {
  await withOtherKey(async (db, kv) => {
    const error: unknown = await Promise.resolve(call(db)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PrimaryKeyDiffersError);
    expect(error).toMatchObject({
      code: "KW_PRIMARY_KEY_DIFFERS",
      model: "users",
      stored: ["id"],
      declared: ["email"],
    });
    expect((error as Error).message).toContain('["id"]');
    expect((error as Error).message).toContain('["email"]');
    expect((await kv.get(["users", "u1"])).value).toEqual(ada);
    expect((await kv.get(["users", ada.email])).value).toBeNull();
  });
});

it("refuses to delete a row if rows that refer to it have another primary key", async () => {
  const kv = await openKv();
  try {
    const before = await createDatabase({ kv, models: { users: User, posts: Post } });
    await before.users.create({ data: ada });
    await before.posts.create({ data: { id: "p1", authorId: "u1" } });
    const PostByAuthor = defineModel({
      ...posts,
      primaryKey: ["authorId", "id"],
      relations: Post.relations,
    });
    const db = await createDatabase({ kv, models: { users: User, posts: PostByAuthor } });
    await expect(db.users.delete({ where: { id: "u1" } })).rejects.toThrow(PrimaryKeyDiffersError);
    expect((await kv.get(["users", "u1"])).value).toEqual(ada);
  } finally {
    await kv.close();
  }
});

it("changes no key to which references do not lead, and reads again with the stored key", async () => {
  await withOtherKey(async (db, kv) => {
    const { status, plan, dangling } = await migrate(db, { accept: true });
    expect(status).toBe("key-unchanged");
    expect(dangling).toMatchObject([{ model: "posts", id: "p1", targetId: "u1" }]);
    expect(plan.steps.map(({ kind }) => kind)).toContain("change-primary-key");
    const back = await createDatabase({ kv, models: { users: User, posts: Post } });
    expect(await back.users.findUnique({ where: { id: "u1" } })).toEqual(ada);
  });
});

function generated(db: AnyDatabase) {
  return rowsOf<typeof ada, typeof ada, Partial<typeof ada>>(db, "users");
}
