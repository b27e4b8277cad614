import { type EmbeddedKv, openKv } from "@keywright/core";
import type { Versioned } from "@keywright/orm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as blog from "./fixtures/blog/generated/index.js";

let kv: EmbeddedKv;
let db: blog.OpenRepositories;

beforeEach(async () => {
  kv = await openKv();
  db = await blog.openRepositories(kv);
});
afterEach(() => kv.close());

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type ItemOf<T> = T extends PromiseLike<{ items: (infer Item)[] }> ? Item : never;

describe("a call returns of a row", () => {
  it("only the fields that are selected", () => {
    const named = db.users.select({ name: true, id: true });
    const found = () => named.findByEmail("a");
    const scanned = () => named.scan();
    const written = () => named.update("a", { name: "b" });
    type Picked = { name: string; id: string };
    const isSame: [
      Same<Awaited<ReturnType<typeof found>>, Picked | null>,
      Same<ItemOf<ReturnType<typeof scanned>>, Picked>,
      Same<Awaited<ReturnType<typeof written>>, Picked>,
    ] = [true, true, true];
    expect(isSame).not.toContain(false);
  });

  it("the relations that are included, in any order of the calls, and its versionstamp", () => {
    const include = {
      author: { select: { name: true } },
      tags: true,
      editor: true,
    } as const;
    const one = () => db.posts.select({ id: true }).include(include).findByIdOrThrow("a");
    const two = () => db.posts.include(include).select({ id: true }).findByIdOrThrow("a");
    const stamped = () => db.posts.withVersionstamp().select({ id: true }).findByIdOrThrow("a");
    const twice = () => db.posts.withVersionstamp().findVersionedById("a");
    const counted = () => db.users.include({ _count: { posts: true } }).findByIdOrThrow("a");
    type Loaded = {
      id: string;
      author: { name: string };
      tags: blog.TagRow[];
      editor: blog.UserRow | null;
    };
    const isSame: [
      Same<Awaited<ReturnType<typeof one>>, Loaded>,
      Same<Awaited<ReturnType<typeof two>>, Loaded>,
      Same<Awaited<ReturnType<typeof stamped>>, Versioned<{ id: string }>>,
      Same<Awaited<ReturnType<typeof twice>>, Versioned<blog.PostRow> | null>,
      Same<Awaited<ReturnType<typeof counted>>["_count"], { posts: number }>,
    ] = [true, true, true, true, true];
    expect(isSame).not.toContain(false);
  });

  it("a relation that may be left out, as one that may be undefined", () => {
    const maybe = (wanted: boolean) => db.posts.include({ author: wanted }).findByIdOrThrow("a");
    type Author = Awaited<ReturnType<typeof maybe>>["author"];
    const isSame: Same<Author, blog.UserRow | undefined> = true;
    expect(isSame).toBe(true);
  });
});

describe("the compiler and the call refuse", () => {
  const invalid = { code: "KW_ARGUMENT_INVALID" };

  it("fields, relations and options that do not exist", async () => {
    const { users, posts } = db;
    await users.create({ id: "ada", email: "ada@x.org", name: "Ada" });
    const refused = [
      // @ts-expect-error: the schema has no such field.
      users.select({ nam: true }).scan(),
      // @ts-expect-error: there is no such relation.
      users.include({ post: true }).scan(),
      // @ts-expect-error: there is no such relation of posts.
      users.include({ posts: { include: { autor: true } } }).scan(),
      // @ts-expect-error: there is no such option.
      users.include({ posts: { limit: 1 } }).scan(),
      // @ts-expect-error: a relation to one row has no order.
      posts.include({ author: { take: 1 } }).scan(),
      // @ts-expect-error: only relations with many rows are counted.
      posts.include({ _count: { author: true } }).scan(),
      // @ts-expect-error: there is no such option.
      users.findById("ada", { maxRead: 1 }),
      // @ts-expect-error: a page is of a list.
      posts.countByState("draft", { take: 1 }),
      // @ts-expect-error: a version is of one row.
      posts.updateManyByState("draft", { score: 1 }, { ifVersion: "" }),
      // @ts-expect-error: a delete has no lifetime.
      users.deleteByEmail("ada@x.org", { expireIn: 1 }),
    ];
    // @ts-expect-error: the posts have no such field. Without a post, the call returns.
    const unnoticed = users.include({ posts: { select: { titel: true } } }).scan();
    expect((await unnoticed).items).toHaveLength(1);
    for (const { status, ...result } of await Promise.allSettled(refused)) {
      expect([status, result]).toEqual(["rejected", { reason: expect.objectContaining(invalid) }]);
    }
    expect(await users.count()).toBe(1);
  });

  it("conditions on related rows that do not exist, and calls that do not take any", async () => {
    const { posts } = db;
    const tagged = posts.whereRelated({ tags: { some: { id: "a" } } });
    const refused = [
      // @ts-expect-error: a relation to many rows has some and none.
      posts.whereRelated({ tags: { is: { id: "a" } } }).scan(),
      // @ts-expect-error: there is no such relation.
      posts.whereRelated({ tag: { some: {} } }).scan(),
      // @ts-expect-error: tags have no such field.
      posts.whereRelated({ tags: { some: { name: "a" } } }).scan(),
      tagged.findById("p"),
      tagged.findEachById(["p"]),
      tagged.create({ id: "p", authorId: "ada", state: "draft", score: 1 }),
      tagged.update("p", { score: 1 }),
      tagged.delete("p"),
      tagged.groupByAuthor(["authorId"], {}),
      tagged.distinctByAuthor("authorId", {}),
    ];
    for (const { status, ...result } of await Promise.allSettled(refused)) {
      const code = expect.stringMatching(/^KW_(ARGUMENT|QUERY)_INVALID$/);
      expect([status, result]).toEqual(["rejected", { reason: expect.objectContaining({ code }) }]);
    }
  });

  it("conditions on the rows of a relation that no index serves", async () => {
    const { users, posts } = db;
    await users.create({ id: "ada", email: "ada@x.org", name: "Ada" });
    const refused = [
      // @ts-expect-error: no index of posts continues with the state.
      users.include({ posts: { where: { state: "draft" } } }).scan(),
      // @ts-expect-error: the score comes first.
      users.include({ posts: { where: { id: "a" } } }).scan(),
      // @ts-expect-error: the score comes first.
      users.include({ posts: { orderBy: { id: "asc" } } }).scan(),
      // @ts-expect-error: the relation says which author.
      users.include({ posts: { where: { authorId: "ada" } } }).scan(),
      // @ts-expect-error: the rows between have no such field.
      posts.include({ tags: { orderBy: { name: "asc" } } }).scan(),
      // @ts-expect-error: no index counts the posts of a state.
      users.include({ _count: { posts: { where: { state: "draft" } } } }).scan(),
    ];
    await posts.create({ id: "p", authorId: "ada", state: "draft", score: 1 });
    for (const { status } of await Promise.allSettled(refused)) expect(status).toBe("rejected");
    const served = users.include({ posts: { where: { score: 1, id: { gt: "a" } } } });
    expect((await served.scan()).items).toMatchObject([{ posts: [{ id: "p" }] }]);
  });

  it("values of other types, and values of fields that are not those of the index", async () => {
    const { posts, postTags } = db;
    const refused = [
      // @ts-expect-error: it is no text.
      posts.listById(5),
      // @ts-expect-error: the first field of the key is missing.
      postTags.listByTitle({ title: "a" }),
      // @ts-expect-error: it may be undefined.
      posts.existsByState(undefined),
      // @ts-expect-error: the index has no such field.
      posts.distinctByAuthor("state", {}),
      // @ts-expect-error: the index has no such field.
      posts.groupByAuthor(["state"], {}),
      // @ts-expect-error: the index adds up no such field.
      posts.groupByAuthor(["authorId"], {}, { orderBy: { sum: { state: "asc" } } }),
      // @ts-expect-error: there is no such condition.
      posts.groupByAuthor(["authorId"], {}, { having: { count: { above: 1 } } }),
    ];
    for (const { status } of await Promise.allSettled(refused)) expect(status).toBe("rejected");
    // @ts-expect-error: a filter is required, so that no call changes all rows by mistake.
    const unfiltered = posts.updateMany(undefined, { score: 1 });
    await expect(unfiltered).rejects.toMatchObject({ code: "KW_QUERY_INVALID" });
  });

  it("a filter that reads a field that rows lack", () => {
    // @ts-expect-error: a filter is called with whole rows, which have no `nam`.
    const query = db.users.select({ id: true }).listByEmail({}, { filter: (user) => user.nam });
    const whole = db.users.select({ id: true }).scan({ filter: (user) => user.name !== "" });
    expect([query, whole]).toHaveLength(2);
  });
});

it("a repository of a transaction has the same shapes, and a shape is not changed later", async () => {
  const include = { posts: { take: 1 } };
  const withPosts = db.users.include(include);
  include.posts.take = 0;
  await db.transaction(async (tx) => {
    const created = await tx.users
      .select({ name: true })
      .create({ id: "ada", email: "ada@x.org", name: "Ada" });
    expect(created).toEqual({ name: "Ada" });
    await tx.posts.createMany(
      [1, 2].map((score) => ({ id: `p${score}`, authorId: "ada", state: "draft" as const, score })),
    );
    expect(await tx.posts.include({ author: true }).findById("p1")).toMatchObject({
      author: { name: "Ada" },
    });
  });
  expect((await withPosts.findById("ada"))?.posts).toMatchObject([{ id: "p1" }]);
});

it("relations are added to each other, and selections replace each other", async () => {
  await db.users.create({ id: "ada", email: "ada@x.org", name: "Ada" });
  const shaped = db.users
    .include({ posts: true })
    .select({ id: true })
    .include({ newest: true })
    .select({ name: true });
  expect(await shaped.findById("ada")).toEqual({ name: "Ada", posts: [], newest: null });
  expect(await db.users.findById("ada")).toEqual({ id: "ada", email: "ada@x.org", name: "Ada" });
});
