import { openKv } from "@keywright/core";
import { createDatabase, type QueryEvent } from "@keywright/orm";
import { expect, it } from "vitest";
import { repositoriesOf } from "./fixtures/blog/generated/index.js";
import { Post, PostTag, Tag, User } from "./fixtures/blog/models.js";

/** Opens the models on a new database with some rows, and records the calls from then on. */
async function open() {
  const kv = await openKv();
  const events: QueryEvent[] = [];
  const db = await createDatabase({
    kv,
    models: { users: User, posts: Post, tags: Tag, postTags: PostTag },
    onQuery: (event) => events.push(event),
  });
  await db.users.createMany({
    data: ["ada", "bob", "eve"].map((id) => ({ id, email: `${id}@x.org`, name: `The ${id}` })),
  });
  await db.posts.createMany({
    data: Array.from({ length: 9 }, (_, i) => ({
      id: `p${i}`,
      authorId: ["ada", "bob", "eve"][i % 3]!,
      state: i % 2 ? ("draft" as const) : ("public" as const),
      score: i,
      ...(i > 6 && { editorId: "bob" }),
    })),
  });
  await db.tags.createMany({ data: ["a", "b"].map((id) => ({ id, title: `Tag ${id}` })) });
  await db.postTags.createMany({
    data: [
      { postId: "p0", tagId: "a" },
      { postId: "p0", tagId: "b" },
      { postId: "p1", tagId: "b" },
    ],
  });
  return { kv, db, events };
}

type Inferred = Awaited<ReturnType<typeof open>>["db"];
type Generated = ReturnType<typeof repositoriesOf>;

/** The first report of a stream. */
async function first<T>(stream: ReadableStream<T>): Promise<T | undefined> {
  for await (const report of stream) return report;
  return undefined;
}

const pick = { name: true } as const;
const p9 = { id: "p9", authorId: "bob", state: "draft", score: 1 } as const;
const p10 = { ...p9, id: "p10" };
const good = { where: { score: { gte: 3 } }, orderBy: { score: "desc" }, take: 2 } as const;
const isEven = (post: { score: number }) => post.score % 2 === 0;

const nestedPost = {
  id: "n1",
  state: "draft" as const,
  score: 1,
  author: { create: { id: "new", email: "new@x.org", name: "New" } },
  tags: {
    create: [{ id: "t", title: "T" }],
    connectOrCreate: { where: { id: "a" }, create: { id: "a", title: "A" } },
  },
};
const nestedUpsert = {
  state: "draft" as const,
  score: 4,
  author: { connect: { email: "kim@x.org" } },
  tags: { create: { id: "u", title: "U" } },
};
const nestedUser = {
  id: "kim",
  email: "kim@x.org",
  name: "Kim",
  posts: {
    create: [
      { id: "k1", state: "public" as const, score: 1, tags: { connect: { id: "b" } } },
      { id: "k2", state: "draft" as const, score: 2 },
    ],
  },
};
const nestedChange = {
  name: "Kim 2",
  posts: {
    update: { where: { id: "k1" }, data: { score: { increment: 5 } } },
    delete: { id: "k2" },
    create: { id: "k3", state: "draft" as const, score: 3 },
  },
};

/** Calls of the inferred API, each with the same call of generated repositories. */
const calls: [string, (db: Inferred) => unknown, (db: Generated) => unknown][] = [
  [
    "select, by primary key",
    (db) => db.users.findUnique({ where: { id: "ada" }, select: pick }),
    ({ users }) => users.select(pick).findById("ada"),
  ],
  [
    "include with conditions, order and take, by unique index",
    (db) =>
      db.users.findUniqueOrThrow({
        where: { email: "ADA@x.org" },
        include: { posts: good, newest: { select: { id: true } }, _count: { posts: true } },
      }),
    ({ users }) =>
      users
        .include({ posts: good, newest: { select: { id: true } }, _count: { posts: true } })
        .findByEmailOrThrow("ADA@x.org"),
  ],
  [
    "select and nested include, of a list",
    (db) =>
      db.posts.findMany({
        where: { state: "public" },
        index: "byState",
        select: { score: true },
        include: { author: { include: { posts: { take: 1 } } }, tags: true, editor: true },
        take: 3,
      }),
    ({ posts }) =>
      posts
        .include({ author: { include: { posts: { take: 1 } } }, tags: true, editor: true })
        .select({ score: true })
        .listByState("public", { take: 3 }),
  ],
  [
    "include in an order of the rows between, with some of them counted",
    (db) =>
      db.posts.findUnique({
        where: { id: "p0" },
        include: {
          tags: { where: { title: { gte: "Tag a" } }, orderBy: { title: "desc" }, take: 1 },
          _count: { tags: { where: { title: "Tag b" } } },
        },
      }),
    ({ posts }) =>
      posts
        .include({
          tags: { where: { title: { gte: "Tag a" } }, orderBy: { title: "desc" }, take: 1 },
          _count: { tags: { where: { title: "Tag b" } } },
        })
        .findById("p0"),
  ],
  [
    "conditions on related rows, with an index",
    (db) =>
      db.posts.findMany({
        index: "byState",
        where: { state: "public", tags: { some: { id: "b" } }, author: { is: { id: "ada" } } },
        include: { tags: true },
      }),
    ({ posts }) =>
      posts
        .whereRelated({ tags: { some: { id: "b" } } })
        .include({ tags: true })
        .whereRelated({ author: { is: { id: "ada" } } })
        .listByState("public"),
  ],
  [
    "conditions on related rows alone, in the order of the primary key",
    (db) =>
      db.posts.findMany({
        where: { tags: { some: { id: "b" } } },
        orderBy: { id: "desc" },
        take: 1,
      }),
    ({ posts }) =>
      posts.whereRelated({ tags: { some: { id: "b" } } }).scan({ order: "desc", take: 1 }),
  ],
  [
    "conditions on the relations of related rows",
    (db) => db.users.count({ where: { posts: { some: { tags: { some: { id: "a" } } } } } }),
    ({ users }) => users.whereRelated({ posts: { some: { tags: { some: { id: "a" } } } } }).count(),
  ],
  [
    "rows without related rows",
    (db) => db.posts.exists({ where: { state: "draft", editor: { isNot: null } } }),
    ({ posts }) => posts.whereRelated({ editor: { isNot: null } }).existsByState("draft"),
  ],
  [
    "conditions on related rows that no index serves",
    (db) => db.users.count({ where: { posts: { some: { state: "draft", score: 1 } } } as never }),
    ({ users }) => users.whereRelated({ posts: { some: { state: "draft", score: 1 } } }).count(),
  ],
  [
    "a change of the rows whose related rows meet conditions",
    (db) =>
      db.posts.updateMany({
        where: { state: "public", tags: { some: { id: "b" } } },
        data: { score: { increment: 0 } },
      }),
    ({ posts }) =>
      posts
        .whereRelated({ tags: { some: { id: "b" } } })
        .updateManyByState("public", { score: { increment: 0 } }),
  ],
  [
    "a copied field that changes with the other row",
    async (db) => {
      await db.tags.update({ where: { id: "b" }, data: { title: "Tag 0" } });
      return await db.postTags.findUnique({ where: { postId: "p0", tagId: "b" } });
    },
    async ({ postTags, tags }) => {
      await tags.update("b", { title: "Tag 0" });
      return await postTags.findByPostIdAndTagId("p0", "b");
    },
  ],
  [
    "versionstamps, backward",
    (db) =>
      db.posts.findMany({
        where: { authorId: "ada" },
        orderBy: { score: "desc" },
        withVersionstamp: true,
        select: { id: true },
      }),
    ({ posts }) =>
      posts
        .withVersionstamp()
        .select({ id: true })
        .listByAuthor({ authorId: "ada" }, { order: "desc" }),
  ],
  [
    "filter",
    (db) => db.posts.findMany({ where: { authorId: { in: ["ada", "bob"] } }, filter: isEven }),
    ({ posts }) => posts.listByAuthor({ authorId: { in: ["ada", "bob"] } }, { filter: isEven }),
  ],
  [
    "filter of a scan",
    (db) => db.posts.scan({ filter: isEven, orderBy: { id: "desc" }, take: 2 }),
    ({ posts }) => posts.scan({ filter: isEven, order: "desc", take: 2 }),
  ],
  [
    "the first row",
    (db) => db.posts.findFirst({ where: { authorId: "bob" }, orderBy: { score: "desc" } }),
    ({ posts }) => posts.listByAuthor({ authorId: "bob" }, { order: "desc" }).first(),
  ],
  [
    "the first row that there is not",
    (db) => db.posts.findFirstOrThrow({ where: { authorId: "zoe" } }),
    ({ posts }) => posts.listByAuthor({ authorId: "zoe" }).firstOrThrow(),
  ],
  [
    "explain",
    (db) => db.posts.explain({ where: { authorId: "bob", score: { lt: 5 } }, take: 2 }),
    ({ posts }) => posts.listByAuthor({ authorId: "bob", score: { lt: 5 } }, { take: 2 }).explain(),
  ],
  [
    "a limit of reads",
    (db) => db.users.findUnique({ where: { id: "ada" }, include: { posts: true }, maxReads: 2 }),
    ({ users }) => users.include({ posts: true }).findById("ada", { maxReads: 2 }),
  ],
  [
    "a part of the primary key",
    (db) => db.postTags.findMany({ where: { postId: "p0" } }),
    ({ postTags }) => postTags.listByPostIdAndTagId({ postId: "p0" }),
  ],
  [
    "a range of the primary key, backward",
    (db) => db.posts.findMany({ where: { id: { gte: "p7" } }, orderBy: { id: "desc" } }),
    ({ posts }) => posts.listById({ gte: "p7" }, { order: "desc" }),
  ],
  ["count of all", (db) => db.posts.count({}), ({ posts }) => posts.count()],
  [
    "count with a filter",
    (db) => db.posts.count({ where: { authorId: "ada" }, filter: isEven }),
    ({ posts }) => posts.countByAuthor({ authorId: "ada" }, { filter: isEven }),
  ],
  [
    "count by an index that counts nothing",
    (db) => db.posts.count({ where: { state: "draft" } }),
    ({ posts }) => posts.countByState("draft"),
  ],
  [
    "exists",
    (db) => db.posts.exists({ where: { state: "draft" }, filter: ({ score }) => score > 6 }),
    ({ posts }) => posts.existsByState("draft", { filter: ({ score }) => score > 6 }),
  ],
  ["exists of all", (db) => db.tags.exists({}), ({ tags }) => tags.exists()],
  [
    "distinct",
    (db) => db.posts.distinct({ field: "authorId" }),
    ({ posts }) => posts.distinctByAuthor("authorId", {}),
  ],
  [
    "distinct within a range",
    (db) =>
      db.posts.distinct({
        field: "score",
        where: { authorId: "bob", score: { gt: 1 } },
        order: "desc",
        take: 1,
      }),
    ({ posts }) =>
      posts.distinctByAuthor(
        "score",
        { authorId: "bob", score: { gt: 1 } },
        { order: "desc", take: 1 },
      ),
  ],
  [
    "distinct of a field that rows may lack",
    (db) => db.posts.distinct({ field: "editorId", index: "byEditor" }),
    ({ posts }) => posts.distinctByEditor({}),
  ],
  [
    "groups",
    (db) =>
      db.posts.groupBy({
        by: ["authorId"],
        orderBy: { authorId: "desc" },
        count: true,
        sum: { score: true },
        avg: { score: true },
      }),
    ({ posts }) => posts.groupByAuthor(["authorId"], {}, { order: "desc" }),
  ],
  [
    "sorted groups",
    (db) =>
      db.posts.groupBy({
        by: ["authorId"],
        orderBy: { sum: { score: "desc" } },
        having: { count: { gte: 1 } },
        take: 1,
        count: true,
        sum: { score: true },
        avg: { score: true },
      }),
    ({ posts }) => {
      const having = { count: { gte: 1 } };
      const orderBy = { sum: { score: "desc" } } as const;
      return posts.groupByAuthor(["authorId"], {}, { having, orderBy, take: 1 });
    },
  ],
  [
    "rows by keys",
    (db) => db.users.scan({ include: { _count: { posts: true } }, select: { id: true } }),
    async ({ users }) => ({
      items: await users
        .select({ id: true })
        .include({ _count: { posts: true } })
        .findEachById(["ada", "bob", "eve"]),
      cursor: null,
    }),
  ],
  [
    "a stream of a row",
    (db) => first(db.users.watch({ where: { email: "bob@x.org" }, select: pick })),
    ({ users }) => first(users.select(pick).watchByEmail("bob@x.org")),
  ],
  [
    "a stream of rows with a filter",
    (db) => first(db.posts.watchMany({ where: { state: "public" }, filter: isEven, take: 2 })),
    ({ posts }) => first(posts.watchByState("public", { filter: isEven, take: 2 })),
  ],
  [
    "create with select and include",
    (db) => db.posts.create({ data: p9, select: { id: true }, include: { author: true } }),
    ({ posts }) => posts.select({ id: true }).include({ author: true }).create(p9),
  ],
  [
    "createMany",
    (db) => db.posts.createMany({ data: [p9, p10], select: { id: true }, withVersionstamp: true }),
    ({ posts }) => posts.select({ id: true }).withVersionstamp().createMany([p9, p10]),
  ],
  [
    "createMany, all or none",
    (db) => db.posts.createMany({ data: [{ ...p9, id: "p11" }, p10], atomic: true }),
    ({ posts }) => posts.createMany([{ ...p9, id: "p11" }, p10], { atomic: true }),
  ],
  [
    "update by unique index",
    (db) =>
      db.users.update({
        where: { email: "Bob@x.org" },
        data: { name: "B" },
        select: { name: true },
      }),
    ({ users }) => users.select(pick).updateByEmail("Bob@x.org", { name: "B" }),
  ],
  [
    "update of another version",
    (db) =>
      db.users.update({
        where: { email: "bob@x.org" },
        data: { name: "C" },
        ifVersion: "0".repeat(20),
      }),
    ({ users }) => users.updateByEmail("bob@x.org", { name: "C" }, { ifVersion: "0".repeat(20) }),
  ],
  [
    "upsert",
    (db) =>
      db.posts.upsert({
        where: { id: "p9" },
        create: p9,
        update: { score: { increment: 2 } },
        include: { tags: true },
      }),
    ({ posts }) =>
      posts
        .include({ tags: true })
        .upsert("p9", { create: p9, update: { score: { increment: 2 } } }),
  ],
  [
    "updateMany",
    (db) =>
      db.posts.updateMany({
        where: { authorId: "bob", score: { gte: 2 } },
        data: { score: { increment: 10 } },
        filter: isEven,
        take: 2,
        atomic: true,
        select: { score: true },
      }),
    ({ posts }) =>
      posts
        .select({ score: true })
        .updateManyByAuthor(
          { authorId: "bob", score: { gte: 2 } },
          { score: { increment: 10 } },
          { filter: isEven, take: 2, atomic: true },
        ),
  ],
  [
    "updateMany of all that a filter selects",
    (db) => db.posts.updateMany({ filter: isEven, data: { state: "public" }, take: 3 }),
    ({ posts }) => posts.updateMany(isEven, { state: "public" }, { take: 3 }),
  ],
  [
    "updateMany without a condition",
    (db) => db.posts.updateMany({ where: {}, data: { state: "public" } } as never),
    ({ posts }) => posts.updateManyById({}, { state: "public" }),
  ],
  [
    "deleteMany of a part of the primary key",
    (db) =>
      db.postTags.deleteMany({ where: { postId: "p0" }, orderBy: { tagId: "desc" }, take: 1 }),
    ({ postTags }) =>
      postTags.deleteManyByPostIdAndTagId({ postId: "p0" }, { order: "desc", take: 1 }),
  ],
  [
    "deleteMany",
    (db) => db.posts.deleteMany({ where: { state: "draft" }, filter: isEven }),
    ({ posts }) => posts.deleteManyByState("draft", { filter: isEven }),
  ],
  [
    "delete by unique index",
    (db) => db.users.delete({ where: { email: "eve@x.org" }, include: { posts: true } }),
    ({ users }) => users.include({ posts: true }).deleteByEmail("eve@x.org"),
  ],
  [
    "create with the row that it refers to and rows of other relations",
    (db) => db.posts.create({ data: nestedPost, include: { author: true, tags: true } }),
    ({ posts }) => posts.include({ author: true, tags: true }).create(nestedPost),
  ],
  [
    "create with rows that refer to it",
    (db) => db.users.create({ data: nestedUser, include: { posts: true } }),
    ({ users }) => users.include({ posts: true }).create(nestedUser),
  ],
  [
    "update of related rows",
    (db) => db.users.update({ where: { id: "kim" }, data: nestedChange, include: { posts: true } }),
    ({ users }) => users.include({ posts: true }).update("kim", nestedChange),
  ],
  [
    "update by unique index of related rows",
    (db) => db.users.update({ where: { email: "kim@x.org" }, data: { newest: { delete: true } } }),
    ({ users }) => users.updateByEmail("kim@x.org", { newest: { delete: true } }),
  ],
  [
    "upsert with a new related row",
    (db) =>
      db.posts.upsert({
        where: { id: "n9" },
        create: { ...nestedUpsert, id: "n9" },
        update: {},
      }),
    ({ posts }) =>
      posts.upsert("n9", {
        create: nestedUpsert,
        update: {},
      }),
  ],
  [
    "upsert that changes related rows",
    (db) =>
      db.posts.upsert({
        where: { id: "n9" },
        create: { ...p9, id: "n9" },
        update: { tags: { set: { id: "b" } }, editor: { connect: { id: "kim" } } },
        include: { tags: true, editor: true },
      }),
    ({ posts }) =>
      posts.include({ tags: true, editor: true }).upsert("n9", {
        create: p9,
        update: { tags: { set: { id: "b" } }, editor: { connect: { id: "kim" } } },
      }),
  ],
  [
    "an empty reference",
    (db) => db.posts.update({ where: { id: "n9" }, data: { editor: { disconnect: true } } }),
    ({ posts }) => posts.update("n9", { editor: { disconnect: true } }),
  ],
  [
    "a connection to a row that does not exist",
    (db) => db.users.update({ where: { id: "kim" }, data: { posts: { connect: { id: "?" } } } }),
    ({ users }) => users.update("kim", { posts: { connect: { id: "?" } } }),
  ],
  ["all tags", (db) => db.postTags.scan(), ({ postTags }) => postTags.scan()],
  ["all rows in the end", (db) => db.posts.scan(), ({ posts }) => posts.scan()],
  [
    "all rows with their versionstamps",
    (db) => db.users.scan({ withVersionstamp: true }),
    ({ users }) => users.withVersionstamp().scan(),
  ],
];

it("generated repositories return the same as the inferred API, with the same reads", async () => {
  const inferred = await open();
  const generated = await open();
  try {
    const repositories = repositoriesOf(generated.db);
    const run = async (call: () => unknown, events: QueryEvent[]) => {
      events.length = 0;
      const result = await Promise.resolve()
        .then(call)
        .catch(({ code, message }: { code: unknown; message: unknown }) => ({ code, message }));
      return { result, reads: events.reduce((sum, event) => sum + event.reads, 0) };
    };
    for (const [name, one, other] of calls) {
      const expected = await run(() => one(inferred.db), inferred.events);
      const actual = await run(() => other(repositories), generated.events);
      expect(actual, name).toEqual(expected);
    }
  } finally {
    await inferred.kv.close();
    await generated.kv.close();
  }
});

it("the data of nested writes is checked by the compiler", () => {
  const kim = { id: "k", email: "k@x.org", name: "K" };
  const post = { id: "p", state: "draft", score: 1 } as const;
  const misuse = ({ users, posts, tags }: Generated) => [
    // @ts-expect-error: it needs authorId or author.
    posts.create(post),
    // @ts-expect-error: there is no such relation.
    posts.create({ ...p9, writer: { connect: { id: "a" } } }),
    // @ts-expect-error: a new row has no related rows to delete.
    users.create({ ...kim, posts: { delete: { id: "p" } } }),
    // @ts-expect-error: the relation determines authorId.
    users.create({ ...kim, posts: { create: { ...post, authorId: "a" } } }),
    // @ts-expect-error: score is a number.
    users.create({ ...kim, posts: { create: { ...post, score: "1" } } }),
    // @ts-expect-error: name does not identify a user.
    posts.update("p", { author: { connect: { name: "K" } } }),
    // @ts-expect-error: the relation leads to one row.
    posts.update("p", { author: { connect: [{ id: "a" }] } }),
    // @ts-expect-error: authorId cannot be empty.
    posts.update("p", { author: { disconnect: true } }),
    // @ts-expect-error: the same.
    users.update("k", { posts: { set: [] } }),
    // @ts-expect-error: tags have no relations.
    tags.update("t", { posts: { create: post } }),
    // @ts-expect-error: rows of createMany have no related rows.
    users.createMany([{ ...kim, posts: { create: post } }]),
    // @ts-expect-error: the same.
    users.updateManyById({}, { posts: { create: post } }),
    posts.update("p", { editor: { disconnect: true }, tags: { set: [] } }),
  ];
  expect(misuse).toBeTypeOf("function");
});

it("conditions on related rows add up", async () => {
  const { kv, db } = await open();
  const { posts } = repositoriesOf(db);
  const tagged = posts
    .whereRelated({ tags: { some: { id: "a" } } })
    .whereRelated({ tags: { some: { id: "b" } } });
  expect((await tagged.scan()).items.map(({ id }) => id)).toEqual(["p0"]);
  expect(await posts.whereRelated({ tags: { some: { id: "b" } } }).count()).toBe(2);
  await kv.close();
});
