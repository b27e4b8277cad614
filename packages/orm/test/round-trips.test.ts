import { openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, defineModel, hasMany, migrate } from "../src/index.js";
import { verifyIndexes } from "../src/migrate.js";
import { CountedEngine } from "./counted-engine.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.int(), email: z.string(), name: z.string() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true }, byName: { key: "name" } },
  relations: { posts: hasMany("posts", "authorId") },
});
const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.int(), authorId: z.int() }),
  primaryKey: "id",
  indexes: { byAuthor: { key: "authorId" } },
  relations: { author: belongsTo("users", "authorId"), comments: hasMany("comments", "postId") },
});
const Comment = defineModel({
  name: "comments",
  schema: z.object({ id: z.int(), postId: z.int() }),
  primaryKey: "id",
  indexes: { byPost: { key: "postId" } },
  relations: { post: belongsTo("posts", "postId", { onDelete: "cascade" }) },
});

const Tag = defineModel({
  name: "tags",
  schema: z.object({ id: z.int(), name: z.string(), labelId: z.int().nullable() }),
  primaryKey: "id",
  indexes: { byName: { key: "name", unique: true }, byLabel: { key: "labelId" } },
  relations: { label: belongsTo("labels", "labelId", { onDelete: "setNull" }) },
});
const Label = defineModel({
  name: "labels",
  schema: z.object({ id: z.int() }),
  primaryKey: "id",
});
const Board = defineModel({
  name: "boards",
  schema: z.object({ id: z.int() }),
  primaryKey: "id",
});
const Topic = defineModel({
  name: "topics",
  schema: z.object({ id: z.int(), boardId: z.int() }),
  primaryKey: "id",
  indexes: { byBoard: { key: "boardId" } },
  relations: { board: belongsTo("boards", "boardId", { onDelete: "cascade" }) },
});
const Reply = defineModel({
  name: "replies",
  schema: z.object({ id: z.int(), topicId: z.int() }),
  primaryKey: "id",
  indexes: { byTopic: { key: "topicId" } },
  relations: { topic: belongsTo("topics", "topicId", { onDelete: "cascade" }) },
});
const models = {
  users: User,
  posts: Post,
  comments: Comment,
  tags: Tag,
  labels: Label,
  boards: Board,
  topics: Topic,
  replies: Reply,
};

const numbers = (count: number, first = 0) => Array.from({ length: count }, (_, i) => first + i);
const user = (id: number) => ({ id, email: `${id}@x.com`, name: "Ada" });

/** Opens a database on a counted engine, with 200 users and 10 posts of each of the first 10. */
async function open() {
  const engine = new CountedEngine();
  const kv = await openKv(engine);
  const db = await createDatabase({ kv, models });
  await db.users.createMany({ data: numbers(200).map(user) });
  await db.posts.createMany({
    data: numbers(100).map((id) => ({ id, authorId: Math.floor(id / 10) })),
  });
  await db.comments.createMany({ data: numbers(200).map((id) => ({ id, postId: id % 10 })) });
  await db.labels.create({ data: { id: 1 } });
  await db.tags.createMany({
    data: numbers(20).map((id) => ({ id, name: `${id}`, labelId: id === 1 ? null : 1 })),
  });
  await db.boards.create({ data: { id: 1 } });
  await db.topics.createMany({ data: numbers(2).map((id) => ({ id, boardId: 1 })) });
  await db.replies.createMany({ data: numbers(40).map((id) => ({ id, topicId: id % 2 })) });
  const depthOf = async (call: () => PromiseLike<unknown>) => (await engine.tripsOf(call)).depth;
  return { engine, kv, db, depthOf };
}

// The catalog is read again after some time, which passes only where a test says so.
let now = 0;
beforeEach(() => void vi.spyOn(performance, "now").mockImplementation(() => now));
afterEach(() => void vi.restoreAllMocks());

it("a database with any number of models opens in these round trips", async () => {
  const engine = new CountedEngine();
  const kv = await openKv(engine);
  try {
    const opened = () => engine.tripsOf(() => createDatabase({ kv, models }));
    expect({ "of new models": await opened(), "of stored models": await opened() }).toEqual({
      "of new models": { depth: 4, requests: 11, together: 8 },
      "of stored models": { depth: 1, requests: 1, together: 1 },
    });
  } finally {
    await kv.close();
  }
});

it("reads of rows take these round trips", async () => {
  const { kv, db, depthOf } = await open();
  try {
    const where = { id: 5 };
    expect({
      findUnique: await depthOf(() => db.users.findUnique({ where })),
      "findUnique by a unique index": await depthOf(() =>
        db.users.findUnique({ where: { email: "5@x.com" } }),
      ),
      "findMany, a page of 100 by an index": await depthOf(() =>
        db.users.findMany({ where: { name: "Ada" }, take: 100 }),
      ),
      "findMany, a page of 100 by primary key": await depthOf(() =>
        db.users.findMany({ orderBy: { id: "asc" }, take: 100 }),
      ),
      count: await depthOf(() => db.users.count({ where: { name: "Ada" } })),
      exists: await depthOf(() => db.users.exists({ where: { name: "Ada" } })),
      "include of many": await depthOf(() =>
        db.users.findUnique({ where, include: { posts: true } }),
      ),
      "include of one": await depthOf(() =>
        db.posts.findUnique({ where, include: { author: true } }),
      ),
      "include of two levels": await depthOf(() =>
        db.users.findUnique({
          where: { id: 0 },
          include: { posts: { include: { comments: true } } },
        }),
      ),
    }).toEqual({
      findUnique: 1,
      "findUnique by a unique index": 2,
      "findMany, a page of 100 by an index": 2,
      "findMany, a page of 100 by primary key": 1,
      count: 1,
      exists: 1,
      "include of many": 3,
      "include of one": 2,
      "include of two levels": 5,
    });
  } finally {
    await kv.close();
  }
});

it("transactions take a round trip for each read and for each new row, and one for the commit", async () => {
  const { kv, db, depthOf } = await open();
  try {
    const [one, two] = [{ id: 1 }, { id: 2 }];
    expect({
      "a read": await depthOf(() => db.transaction((tx) => tx.users.findUnique({ where: one }))),
      "2 reads": await depthOf(() =>
        db.transaction(async (tx) => {
          await tx.users.findUnique({ where: one });
          await tx.users.findUnique({ where: two });
        }),
      ),
      "2 reads and 2 updates": await depthOf(() =>
        db.transaction(async (tx) => {
          await tx.users.findUnique({ where: one });
          await tx.users.findUnique({ where: two });
          await tx.users.update({ where: one, data: { name: "Bob" } });
          await tx.users.update({ where: two, data: { name: "Bob" } });
        }),
      ),
      "2 reads at once and an update": await depthOf(() =>
        db.transaction(async (tx) => {
          await tx.users.findMany({ where: { id: { in: [1, 2] } } });
          await tx.users.update({ where: one, data: { name: "Eve" } });
        }),
      ),
      "an update": await depthOf(() =>
        db.transaction((tx) => tx.users.update({ where: one, data: { name: "Ann" } })),
      ),
      "3 new rows": await depthOf(() =>
        db.transaction(async (tx) => {
          for (const id of [1001, 1002, 1003]) await tx.users.create({ data: user(id) });
        }),
      ),
    }).toEqual({
      "a read": 1,
      "2 reads": 3,
      "2 reads and 2 updates": 3,
      "2 reads at once and an update": 2,
      "an update": 2,
      "3 new rows": 4,
    });
  } finally {
    await kv.close();
  }
});

it("writes take these round trips", async () => {
  const { kv, db, depthOf } = await open();
  try {
    expect({
      create: await depthOf(() => db.users.create({ data: user(1000) })),
      "create, with a reference": await depthOf(() =>
        db.comments.create({ data: { id: 1000, postId: 1 } }),
      ),
      "createMany of 100": await depthOf(() =>
        db.users.createMany({ data: numbers(100, 2000).map(user) }),
      ),
      update: await depthOf(() => db.users.update({ where: { id: 5 }, data: { name: "Bob" } })),
      "update of a unique value": await depthOf(() =>
        db.users.update({ where: { id: 5 }, data: { email: "bob@x.com" } }),
      ),
      "upsert of a new row": await depthOf(() =>
        db.users.upsert({ where: { id: 1001 }, create: user(1001), update: {} }),
      ),
      "upsert of a row": await depthOf(() =>
        db.users.upsert({ where: { id: 1001 }, create: user(1001), update: { name: "Bob" } }),
      ),
      "delete of a row": await depthOf(() => db.comments.delete({ where: { id: 1000 } })),
      "delete of a row with a unique value": await depthOf(() =>
        db.tags.delete({ where: { id: 1 } }),
      ),
      "delete of a row that nothing refers to": await depthOf(() =>
        db.posts.delete({ where: { id: 50 } }),
      ),
      "the same, with a unique value": await depthOf(() => db.users.delete({ where: { id: 150 } })),
      "delete with 20 rows that refer to it": await depthOf(() =>
        db.posts.delete({ where: { id: 5 } }),
      ),
      "delete, with 20 references that are cleared": await depthOf(() =>
        db.labels.delete({ where: { id: 1 } }),
      ),
      "delete, with 2 rows and the 40 rows that refer to them": await depthOf(() =>
        db.boards.delete({ where: { id: 1 } }),
      ),
    }).toEqual({
      create: 1,
      "create, with a reference": 2,
      "createMany of 100": 1,
      update: 2,
      "update of a unique value": 3,
      "upsert of a new row": 2,
      "upsert of a row": 2,
      "delete of a row": 2,
      "delete of a row with a unique value": 3,
      "delete of a row that nothing refers to": 3,
      "the same, with a unique value": 4,
      "delete with 20 rows that refer to it": 4,
      "delete, with 20 references that are cleared": 4,
      "delete, with 2 rows and the 40 rows that refer to them": 8,
    });
  } finally {
    await kv.close();
  }
});

it("work on many rows keeps requests few, and several in flight", async () => {
  const { engine, kv, db } = await open();
  try {
    expect({
      "createMany of 1000 rows": await engine.tripsOf(() =>
        db.users.createMany({ data: numbers(1000, 3000).map(user) }),
      ),
      "createMany of 1000 rows with references": await engine.tripsOf(() =>
        db.comments.createMany({ data: numbers(1000, 3000).map((id) => ({ id, postId: 1 })) }),
      ),
      "updateMany of 1000 rows": await engine.tripsOf(() =>
        db.users.updateMany({ where: { id: { gte: 3000 } }, data: { name: "Bob" } }),
      ),
      "deleteMany of 1000 rows": await engine.tripsOf(() =>
        db.comments.deleteMany({ where: { id: { gte: 3000 } } }),
      ),
    }).toEqual({
      "createMany of 1000 rows": { depth: 4, requests: 4, together: 1 },
      "createMany of 1000 rows with references": { depth: 4, requests: 12, together: 8 },
      "updateMany of 1000 rows": { depth: 10, requests: 18, together: 8 },
      "deleteMany of 1000 rows": { depth: 10, requests: 18, together: 8 },
    });
  } finally {
    await kv.close();
  }
});

it("a migration takes few round trips for each batch of rows", async () => {
  const Plain = defineModel({ name: "plain", schema: User.schema, primaryKey: "id" });
  const Indexed = defineModel({
    name: "plain",
    schema: User.schema,
    primaryKey: "id",
    indexes: { byEmail: { key: "email", unique: true }, byName: { key: "name" } },
  });
  const depthsFor = async (rows: number) => {
    const engine = new CountedEngine();
    const kv = await openKv(engine);
    try {
      const before = await createDatabase({ kv, models: { plain: Plain } });
      await before.plain.createMany({ data: numbers(rows).map(user) });
      const db = await createDatabase({ kv, models: { plain: Indexed } });
      const migrated = await engine.tripsOf(() => migrate(db));
      const verified = await engine.tripsOf(() => verifyIndexes(db));
      return { migrate: migrated.depth, verify: verified.depth };
    } finally {
      await kv.close();
    }
  };
  const [small, large] = [await depthsFor(1010), await depthsFor(2010)];
  // Of 500 rows each. A migration builds two indexes and verifies them.
  const batches = 2;
  expect({
    "migrate, for each batch": (large.migrate - small.migrate) / batches,
    "verifyIndexes, for each batch": (large.verify - small.verify) / batches,
  }).toEqual({ "migrate, for each batch": 5, "verifyIndexes, for each batch": 3 });
});

it("the catalog is read with the rows if it is due, and by commits", async () => {
  const { engine, kv, db } = await open();
  try {
    const where = { id: 5 };
    const later = (call: () => PromiseLike<unknown>) => {
      now += 10_000;
      return engine.tripsOf(call);
    };
    const include = { posts: { include: { comments: true } } } as const;
    expect({
      findUnique: await later(() => db.users.findUnique({ where })),
      "findUnique by a unique index": await later(() =>
        db.users.findUnique({ where: { email: "5@x.com" } }),
      ),
      findMany: await later(() => db.users.findMany({ where: { name: "Ada" }, take: 100 })),
      count: await later(() => db.users.count({ where: { name: "Ada" } })),
      "include of two levels": await later(() =>
        db.users.findUnique({ where: { id: 0 }, include }),
      ),
      create: await later(() => db.users.create({ data: user(1000) })),
      "create, with a reference": await later(() =>
        db.comments.create({ data: { id: 1000, postId: 1 } }),
      ),
      update: await later(() => db.users.update({ where, data: { name: "Bob" } })),
      delete: await later(() => db.posts.delete({ where: { id: 50 } })),
    }).toMatchObject({
      findUnique: { depth: 1, requests: 2 },
      "findUnique by a unique index": { depth: 2, requests: 3 },
      findMany: { depth: 2, requests: 3 },
      count: { depth: 1, requests: 2 },
      "include of two levels": { depth: 5 },
      create: { depth: 1, requests: 1 },
      // One of them reads whether the database was moved, which is done once in a minute.
      "create, with a reference": { depth: 2, requests: 4 },
      update: { depth: 2, requests: 3 },
      delete: { depth: 3 },
    });
    now += 10_000;
    await db.users.create({ data: user(1001) });
    expect(await engine.tripsOf(() => db.users.findUnique({ where }))).toMatchObject({
      requests: 1,
    });
  } finally {
    await kv.close();
  }
});
