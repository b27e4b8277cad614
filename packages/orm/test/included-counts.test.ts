import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, defineModel, hasMany, manyToMany } from "../src/index.js";
import { countingKv } from "./counting-kv.js";
import { rejection } from "./user-model.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), name: z.string() }),
  primaryKey: "id",
  relations: { posts: hasMany("posts", "authorId") },
});
const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), authorId: z.string() }),
  primaryKey: "id",
  indexes: { byAuthor: { key: "authorId", count: true } },
  relations: {
    author: belongsTo("users", "authorId"),
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
  schema: z.object({ postId: z.string(), tagId: z.string() }),
  primaryKey: ["postId", "tagId"],
  indexes: { byTag: { key: "tagId" } },
  relations: { post: belongsTo("posts", "postId"), tag: belongsTo("tags", "tagId") },
});
const models = { users: User, posts: Post, tags: Tag, postTags: PostTag };

describe("include with _count", () => {
  let kv: EmbeddedKv;

  beforeEach(async () => {
    kv = await openKv();
  });
  afterEach(() => kv.close());

  async function open(onQuery?: (event: { operation: string; reads: number }) => void) {
    const db = await createDatabase({ kv, models, ...(onQuery && { onQuery }) });
    await db.users.createMany({ data: ["a", "b", "c"].map((id) => ({ id, name: id })) });
    const posts = [
      ["1", "a"],
      ["2", "a"],
      ["3", "b"],
    ] as const;
    await db.posts.createMany({ data: posts.map(([id, authorId]) => ({ id, authorId })) });
    await db.tags.createMany({ data: [{ id: "x" }, { id: "y" }] });
    await db.postTags.createMany({ data: ["x", "y"].map((tagId) => ({ postId: "1", tagId })) });
    return db;
  }

  it("returns the number of rows of relations with many rows, at any depth", async () => {
    const db = await open();
    const users = await db.users.findMany({
      orderBy: { id: "asc" },
      include: { _count: { posts: true } },
    });
    expectTypeOf(users.items[0]!._count).toEqualTypeOf<{ posts: number }>();
    expect(users.items.map(({ id, _count }) => [id, _count.posts])).toEqual([
      ["a", 2],
      ["b", 1],
      ["c", 0],
    ]);
    const ada = await db.users.findUniqueOrThrow({
      where: { id: "a" },
      select: { name: true },
      include: { posts: { include: { _count: { tags: true } } }, _count: { posts: true } },
    });
    expectTypeOf(ada.posts[0]!._count.tags).toEqualTypeOf<number>();
    expect(ada).toEqual({
      name: "a",
      posts: [
        { id: "1", authorId: "a", _count: { tags: 2 } },
        { id: "2", authorId: "a", _count: { tags: 0 } },
      ],
      _count: { posts: 2 },
    });
  });

  it("reads one counter for each row if the index is counted", async () => {
    const reads: number[] = [];
    const db = await open(({ operation, reads: made }) => {
      if (operation === "scan") reads.push(made);
    });
    await db.users.scan({ include: { _count: { posts: true } } });
    expect(reads).toEqual([6]);
  });

  it("reads the counters of all rows together, also with further conditions", async () => {
    const Team = defineModel({
      name: "teams",
      schema: z.object({ t: z.string(), n: z.int() }),
      primaryKey: ["t", "n"],
      relations: { tasks: hasMany("tasks", ["t", "team"]) },
    });
    const Task = defineModel({
      name: "tasks",
      schema: z.object({ id: z.int(), t: z.string(), team: z.int(), state: z.string() }),
      primaryKey: "id",
      indexes: {
        byTeam: { key: ["t", "state", "team"], count: true },
        all: { key: ["t", "team"] },
      },
      relations: { owner: belongsTo("teams", ["t", "team"]) },
    });
    const counted = countingKv(kv);
    const db = await createDatabase({ kv: counted.kv, models: { teams: Team, tasks: Task } });
    const teams = Array.from({ length: 30 }, (_, n) => ({ t: n % 2 === 0 ? "a" : "b", n }));
    await db.teams.createMany({ data: teams });
    const states = ["open", "done", "new"];
    const tasks = Array.from({ length: 200 }, (_, id) => {
      const team = (id * id) % 30;
      return { id, ...teams[team]!, team, state: states[id % 3]! };
    }).map(({ n: _, ...task }) => task);
    await db.tasks.createMany({ data: tasks });
    const { getMany, get, list } = { ...counted.calls };
    const where = { state: { in: ["open", "done"] } };
    const found = await db
      .scope({ t: "a" })
      .teams.scan({ include: { _count: { tasks: { where } } } });
    const calls = counted.calls;
    expect([calls.getMany - getMany, calls.get - get, calls.list - list]).toEqual([1, 0, 1]);
    expect(found.items.map(({ n, _count }) => [n, _count.tasks])).toEqual(
      teams
        .filter(({ t }) => t === "a")
        .map(({ n }) => [
          n,
          tasks.filter((task) => task.team === n && task.state !== "new").length,
        ]),
    );
  });

  it("is right within a transaction, after a write, and in a live query", async () => {
    const db = await open();
    const include = { _count: { posts: true } } as const;
    await db.transaction(async (tx) => {
      await tx.posts.create({ data: { id: "4", authorId: "b" } });
      const bob = await tx.users.findUnique({ where: { id: "b" }, include });
      expect(bob?._count).toEqual({ posts: 2 });
    });
    const data = { name: "Bob" };
    const changed = await db.users.update({ where: { id: "b" }, data, include });
    expect(changed).toEqual({ id: "b", name: "Bob", _count: { posts: 2 } });
    const reader = db.users.watch({ where: { id: "b" }, include }).getReader();
    expect((await reader.read()).value?._count.posts).toBe(2);
    await db.posts.delete({ where: { id: "3" } });
    expect((await reader.read()).value?._count.posts).toBe(1);
    await reader.cancel();
  });

  it("refuses relations that have no many rows", async () => {
    const db = await open();
    const refused = [
      // @ts-expect-error: a post has one author.
      db.posts.findUnique({ where: { id: "1" }, include: { _count: { author: true } } }),
      // @ts-expect-error: there is no such relation.
      db.users.findUnique({ where: { id: "a" }, include: { _count: { comments: true } } }),
      // @ts-expect-error: relations are named.
      db.users.findUnique({ where: { id: "a" }, include: { _count: true } }),
    ];
    for (const each of refused) {
      const error = await rejection(each);
      expect(error).toMatchObject({
        code: "KW_ARGUMENT_INVALID",
        argument: expect.stringMatching(/^include\._count/),
      });
    }
  });
});
