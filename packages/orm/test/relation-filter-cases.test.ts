import { type Kv, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, defineModel, hasMany } from "../src/index.js";
import { filterModels } from "./filter-models.js";
import { rejection } from "./user-model.js";

const two = (n: number) => String(n).padStart(2, "0");

/** 40 users, every other of whom has some drafts. */
async function filled(kv: Kv, postsOfEach: number) {
  const reads: number[] = [];
  const db = await createDatabase({
    kv,
    models: filterModels,
    onQuery: (event) => reads.push(event.reads),
  });
  await db.users.createMany({
    data: Array.from({ length: 40 }, (_, i) => {
      return { id: `u${two(i)}`, country: i % 4 < 2 ? "no" : "se", age: i, name: "n" };
    }),
    atomic: true,
  });
  await db.posts.createMany({
    data: Array.from({ length: 40 * postsOfEach }, (_, i) => {
      const author = i % 40;
      const status = author % 2 === 0 ? ("draft" as const) : ("live" as const);
      const id = `p${String(i).padStart(4, "0")}`;
      return { id, authorId: `u${two(author)}`, status, rank: author, kind: "k", labels: [] };
    }),
  });
  const ofLast = () => reads.at(-1) ?? 0;
  return { db, ofLast };
}

const idsOf = ({ items }: { readonly items: readonly { readonly id: string }[] }) =>
  items.map(({ id }) => id);

it.each([1, 6])("reads no more than explain says, whatever the number of posts (%i)", async (n) => {
  await using kv = await openKv();
  const { db, ofLast } = await filled(kv, n);
  const draft = { status: "draft" } as const;

  // An index in the order of the users: two entries, the user, twice two for the test, the user.
  const found = { where: { posts: { some: draft } }, take: 5 } as const;
  const plan = await db.users.explain(found);
  expect(plan).toMatchObject({ kind: "related", index: "primaryKey", reads: 2 + 5 * 6 });
  expect(plan.relations?.map(({ access, index }) => `${access} ${index}`)).toEqual([
    "find byStatus",
    "test byAuthor",
  ]);
  const first = await db.users.findMany(found);
  expect(idsOf(first)).toEqual(["u00", "u02", "u04", "u06", "u08"]);
  expect(ofLast()).toBeLessThanOrEqual(plan.reads ?? 0);
  const second = await db.users.findMany({ ...found, cursor: first.cursor });
  expect(idsOf(second)).toEqual(["u10", "u12", "u14", "u16", "u18"]);
  expect(ofLast()).toBeLessThanOrEqual(plan.reads ?? 0);

  // An index of the users: an entry and the user, two for the test, and the user again if it
  // passes.
  const tested = { where: { country: "no", posts: { some: draft } }, take: 3 } as const;
  expect(idsOf(await db.users.findMany(tested))).toEqual(["u00", "u04", "u08"]);
  expect(ofLast()).toBeLessThanOrEqual(12 * 5);

  // One key: the user, two for the test, the user.
  const one = { where: { id: "u02", posts: { some: draft } } } as const;
  expect((await db.users.explain(one)).reads).toBe(4);
  expect((await db.users.findFirst(one))?.id).toBe("u02");
  // The user and the entry of a post. All reads see one state, so the post is not read.
  expect(ofLast()).toBe(2);

  // An index that has the posts in another order: all of its posts are read first.
  const collected = { where: { posts: { some: { rank: { gte: 30 } } } }, take: 2 } as const;
  expect(idsOf(await db.users.findMany(collected))).toEqual(["u30", "u31"]);
  // They are not read again to test the users, because all reads see one state.
  expect(ofLast()).toBe(10 * n * 2 + 2);
  expect((await db.users.explain(collected)).relations?.[0]).toMatchObject({
    access: "collect",
    model: "posts",
    index: "byRank",
  });
});

it("continues after a cursor while rows come and go", async () => {
  await using kv = await openKv();
  const { db } = await filled(kv, 1);
  const query = { where: { posts: { some: { status: "draft" } } }, take: 4 } as const;
  const first = await db.users.findMany(query);
  await db.users.delete({ where: { id: "u06" } });
  await db.users.update({ where: { id: "u10" }, data: { name: "other" } });
  await db.posts.updateMany({ where: { authorId: "u09" }, data: { status: "draft" } });
  const second = await db.users.findMany({ ...query, cursor: first.cursor });
  expect(idsOf(second)).toEqual(["u08", "u09", "u10", "u12"]);
  const other = { where: { posts: { some: { status: "live" } } }, take: 4 } as const;
  const refused = db.users.findMany({ ...other, cursor: first.cursor });
  expect(await rejection(refused)).toMatchObject({ code: "KW_CURSOR_INVALID" });
});

it("refuses conditions that no index serves, and names the index to add", async () => {
  await using kv = await openKv();
  const { db } = await filled(kv, 0);
  const untyped = db.users as unknown as Record<string, (query: unknown) => Promise<unknown>>;
  const errorOf = (where: unknown, method = "findMany") => rejection(untyped[method]!({ where }));
  expect(await errorOf({ posts: { some: { kind: "k" } } })).toMatchObject({
    code: "KW_QUERY_UNINDEXED",
    suggestion: 'byKindAndAuthorId: { key: ["kind", "authorId"] }',
    message:
      'users.findMany: no index serves the condition posts.some; add byKindAndAuthorId: { key: ["kind", "authorId"] } to posts',
  });
  expect(await errorOf({ country: "no", posts: { none: { kind: "k" } } })).toMatchObject({
    code: "KW_QUERY_UNINDEXED",
    suggestion: 'byAuthorIdAndKind: { key: ["authorId", "kind"] }',
  });
  expect(await errorOf({ posts: { none: { status: "draft" } } }, "count")).toMatchObject({
    code: "KW_QUERY_UNINDEXED",
    message:
      'users.count: posts.none can only be tested, and nothing else finds rows; add a condition that an index serves, or order by the primary key, orderBy: { id: "asc" }, to read every row',
  });
  const invalid: readonly (readonly [unknown, string])[] = [
    [{ posts: { every: {} } }, "posts"],
    [{ posts: {} }, "posts"],
    [{ posts: { some: undefined } }, "posts.some"],
    [{ posts: undefined }, "posts"],
    [{ posts: { some: { authorId: "u01" } } }, "posts.some.authorId"],
    [{ posts: { some: { rank: "one" } } }, "rank"],
    [{ OR: [{ country: "no" }, { posts: { some: {} } }] }, "OR[1].posts"],
  ];
  for (const [where, field] of invalid) {
    expect(await errorOf(where)).toMatchObject({ code: "KW_QUERY_INVALID", field });
  }
  const unique = untyped.findUnique!({ where: { id: "u01", posts: { some: {} } } });
  expect(await rejection(unique)).toMatchObject({ code: "KW_QUERY_INVALID", field: "posts" });
});

it("refuses a condition with which too many related rows are left", async () => {
  await using kv = await openKv();
  const { db } = await filled(kv, 0);
  const data = Array.from({ length: 1001 }, (_, i) => ({ id: `t${i}`, group: "a" }));
  await db.tags.createMany({ data });
  const error = await rejection(db.posts.count({ where: { tags: { some: { group: "a" } } } }));
  expect(error).toMatchObject({ code: "KW_QUERY_INVALID", field: "tags.some" });
  const limited = db.users.findMany({ where: { posts: { some: {} } }, maxReads: 0 });
  expect(idsOf(await limited)).toEqual([]);
});

it.each([true, false])(
  "fails by a limit with the index of the query, counted: %s",
  async (count) => {
    await using kv = await openKv();
    const post = defineModel({
      name: "posts",
      schema: z.object({ id: z.int(), userId: z.int() }),
      primaryKey: "id",
      indexes: { byUser: { key: "userId", count } },
      relations: { user: belongsTo("users", "userId") },
    });
    const user = defineModel({
      name: "users",
      schema: z.object({ id: z.int(), group: z.int() }),
      primaryKey: "id",
      indexes: { byGroup: { key: "group" } },
      relations: { posts: hasMany("posts", "userId") },
    });
    const db = await createDatabase({ kv, models: { users: user, posts: post } });
    await db.users.createMany({ data: Array.from({ length: 30 }, (_, id) => ({ id, group: 1 })) });
    await db.posts.createMany({
      data: Array.from({ length: 30 }, (_, id) => ({ id, userId: id })),
    });
    for (const condition of [{ none: {} }, { some: {} }]) {
      const where = { group: 1, posts: condition } as never;
      const error = await rejection(db.users.count({ where, maxReads: 20 }));
      expect(error).toMatchObject({ code: "KW_READ_LIMIT", index: "byGroup" });
    }
  },
);

it("misses no row whose related rows change places all the time", async () => {
  await using kv = await openKv();
  const db = await createDatabase({ kv, models: filterModels });
  const users = Array.from({ length: 6 }, (_, i) => `u${i}`);
  await db.users.createMany({
    data: users.map((id) => ({ id, country: "no", age: 1, name: "n" })),
  });
  const post = (id: string, authorId: string, rank: number) => {
    const status = rank === 0 ? ("draft" as const) : ("live" as const);
    return { id, authorId, status, rank, kind: "k", labels: [] };
  };
  await db.posts.createMany({
    data: users.flatMap((id) => [post(`${id}a`, id, 0), post(`${id}b`, id, 1)]),
  });
  // Each user has exactly one draft of rank 0 at any time: the one or the other post.
  let isDone = false;
  const swap = async () => {
    for (let i = 0; !isDone; i++) {
      const id = users[i % users.length]!;
      const toFirst = Math.floor(i / users.length) % 2 === 1;
      await db.transaction(async (tx) => {
        const set = (name: string, isDraft: boolean) =>
          tx.posts.update({
            where: { id: id + name },
            data: { status: isDraft ? "draft" : "live", rank: isDraft ? 0 : 1 },
          });
        await set("a", toFirst);
        await set("b", !toFirst);
      });
    }
  };
  const writer = swap();
  try {
    for (let i = 0; i < 25; i++) {
      const draft = { status: "draft" } as const;
      expect(await db.users.count({ where: { posts: { some: draft } } })).toBe(6);
      expect(await db.users.count({ where: { country: "no", posts: { none: draft } } })).toBe(0);
      const collected = await db.users.findMany({ where: { posts: { some: { rank: 0 } } } });
      expect(idsOf(collected)).toEqual(users);
    }
  } finally {
    isDone = true;
    await writer;
  }
});

it("changes and deletes the rows that still meet the conditions", async () => {
  await using kv = await openKv();
  const { db } = await filled(kv, 1);
  const where = { posts: { some: { status: "draft" } } } as const;
  const changed = await db.users.updateMany({ where, data: { name: "drafts" } });
  expect(changed.count).toBe(20);
  expect((await db.users.scan({ filter: ({ name }) => name === "drafts" })).items).toHaveLength(20);
  const some = { where: { age: { lt: 4 }, ...where } } as const;
  expect((await db.users.deleteMany({ ...some, atomic: true })).count).toBe(2);
  expect((await db.users.deleteMany({ where, take: 3 })).count).toBe(3);
  expect(await db.users.count({ where })).toBe(15);
});

it("lets a transaction fail if related rows that it has read change", async () => {
  await using kv = await openKv();
  const { db } = await filled(kv, 1);
  const query = { where: { id: "u00", posts: { some: { status: "draft" } } } } as const;
  let attempts = 0;
  let hasRead = () => {};
  const read = new Promise<void>((resolve) => {
    hasRead = resolve;
  });
  const data = { status: "live" } as const;
  const written = read.then(() => db.posts.update({ where: { id: "p0000" }, data }));
  await db.transaction(async (tx) => {
    attempts++;
    const found = await tx.users.findFirst(query);
    hasRead();
    await written;
    const name = found === null ? "none" : "some";
    await tx.users.update({ where: { id: "u00" }, data: { name } });
  });
  expect(attempts).toBe(2);
  expect((await db.users.findUnique({ where: { id: "u00" } }))?.name).toBe("none");
});

it("is reported by a live query when related rows change", async () => {
  await using kv = await openKv();
  const { db } = await filled(kv, 1);
  const where = { country: "no", posts: { some: { status: "draft" } } } as const;
  const watched = db.users.watchMany({ where, take: 2 }).getReader();
  const found = db.users.watchMany({ where: { posts: { some: { rank: 39 } } } }).getReader();
  const next = async (reader: typeof watched) =>
    ((await reader.read()).value ?? []).map((u) => u.id);
  expect(await next(watched)).toEqual(["u00", "u04"]);
  expect(await next(found)).toEqual(["u39"]);
  await db.posts.update({ where: { id: "p0000" }, data: { status: "live", rank: 39 } });
  expect(await next(watched)).toEqual(["u04", "u08"]);
  expect(await next(found)).toEqual(["u00", "u39"]);
  await Promise.all([watched.cancel(), found.cancel()]);
});

it("ignores rows that are marked as deleted, on both sides", async () => {
  await using kv = await openKv();
  const deletedAt = z.date().nullable().default(null);
  const Shelf = defineModel({
    name: "shelves",
    schema: z.object({ id: z.string(), deletedAt }),
    primaryKey: "id",
    softDelete: "deletedAt",
    relations: { books: hasMany("books", "shelfId") },
  });
  const Book = defineModel({
    name: "books",
    schema: z.object({ id: z.string(), shelfId: z.string(), color: z.string(), deletedAt }),
    primaryKey: "id",
    softDelete: "deletedAt",
    indexes: { byShelf: { key: ["shelfId", "color"] }, byColor: { key: ["color", "shelfId"] } },
    relations: { shelf: belongsTo("shelves", "shelfId", { onDelete: "cascade" }) },
  });
  const db = await createDatabase({ kv, models: { shelves: Shelf, books: Book } });
  await db.shelves.createMany({ data: ["a", "b", "c"].map((id) => ({ id })) });
  await db.books.createMany({
    data: ["a", "b", "c"].map((shelfId) => ({ id: `of ${shelfId}`, shelfId, color: "red" })),
  });
  await db.books.delete({ where: { id: "of b" } });
  await db.shelves.delete({ where: { id: "c" } });
  const red = { where: { books: { some: { color: "red" } } } } as const;
  expect(idsOf(await db.shelves.findMany(red))).toEqual(["a"]);
  const none = { where: { books: { none: {} } }, orderBy: { id: "asc" } } as const;
  expect(idsOf(await db.shelves.findMany(none))).toEqual(["b"]);
  expect(await db.books.count({ where: { color: "red", shelf: { isNot: null } } })).toBe(1);
  const skipping = { where: { ...red.where, id: "a" }, skip: 1 };
  const call = db.shelves.findMany(skipping as never);
  expect(await rejection(call)).toMatchObject({ code: "KW_ARGUMENT_INVALID", argument: "skip" });
});

it("reads no related row outside of a scope", async () => {
  await using kv = await openKv();
  const Shop = defineModel({
    name: "shops",
    schema: z.object({ tenant: z.string(), id: z.string() }),
    primaryKey: ["tenant", "id"],
    relations: { sales: hasMany("sales", ["tenant", "shopId"]) },
  });
  const Sale = defineModel({
    name: "sales",
    schema: z.object({ tenant: z.string(), id: z.string(), shopId: z.string(), state: z.string() }),
    primaryKey: ["tenant", "id"],
    indexes: {
      byShop: { key: ["tenant", "shopId", "state"] },
      byState: { key: ["tenant", "state"] },
    },
    relations: { shop: belongsTo("shops", ["tenant", "shopId"]) },
  });
  const db = await createDatabase({ kv, models: { shops: Shop, sales: Sale } });
  for (const tenant of ["acme", "other"]) {
    const scoped = db.scope({ tenant });
    await scoped.shops.createMany({ data: ["a", "b", "c"].map((id) => ({ id })) });
    const state = (shopId: string) => ((shopId === "b") === (tenant === "acme") ? "open" : "paid");
    await scoped.sales.createMany({
      data: ["a", "b"].map((shopId) => ({ id: `of ${shopId}`, shopId, state: state(shopId) })),
    });
  }
  const acme = db.scope({ tenant: "acme" });
  const open = { where: { sales: { some: { state: "open" } } } } as const;
  expect(idsOf(await acme.shops.findMany(open))).toEqual(["b"]);
  expect(await acme.shops.count({ where: { id: "a", ...open.where } })).toBe(0);
  const none = { where: { sales: { none: {} } }, orderBy: { id: "asc" } } as const;
  expect(idsOf(await acme.shops.findMany(none))).toEqual(["c"]);
  const ofShop = { where: { state: "open", shop: { is: { id: "b" } } } } as const;
  expect(idsOf(await acme.sales.findMany(ofShop))).toEqual(["of b"]);
  expect(idsOf(await db.scope({ tenant: "other" }).sales.findMany(ofShop))).toEqual([]);
});

it("reads the counter of the related rows if there is one", async () => {
  const User = defineModel({
    name: "users",
    schema: z.object({ id: z.int() }),
    primaryKey: "id",
    relations: { posts: hasMany("posts", "userId") },
  });
  const Post = defineModel({
    name: "posts",
    schema: z.object({
      id: z.int(),
      userId: z.int(),
      kind: z.int(),
      deletedAt: z.date().optional(),
    }),
    primaryKey: "id",
    indexes: { byUser: { key: ["userId", "kind"], count: true }, ofUser: { key: "userId" } },
    relations: { user: belongsTo("users", "userId") },
    softDelete: "deletedAt",
  });
  await using kv = await openKv();
  const reads: number[] = [];
  const onQuery = (event: { readonly reads: number }) => reads.push(event.reads);
  const db = await createDatabase({ kv, models: { users: User, posts: Post }, onQuery });
  await db.users.createMany({ data: [0, 1, 2, 3].map((id) => ({ id })) });
  const posts = [0, 1, 2].map((id) => ({ id, userId: id, kind: 1 }));
  await db.posts.createMany({ data: posts });
  await db.posts.delete({ where: { id: 1 } });
  await db.posts.update({ where: { id: 2 }, data: { kind: 2 } });
  const without = { where: { posts: { none: { kind: 1 } } }, orderBy: { id: "asc" } } as const;
  // Four users and four counters, and no post.
  await db.users.findMany({ ...without, where: { posts: { none: { kind: 3 } } } });
  expect(reads.at(-1)).toBeLessThanOrEqual(4 + 4 + 2);
  const some = { where: { id: 0, posts: { some: { kind: 1 } } } } as const;
  expect(await db.users.findFirst(some)).toEqual({ id: 0 });
  expect(reads.at(-1)).toBe(2);
  await db.posts.create({ data: { id: 4, userId: 3, kind: 1 }, expireIn: 1 });
  const wanted = [{ id: 1 }, { id: 2 }, { id: 3 }];
  await expect.poll(async () => (await db.users.findMany(without)).items).toEqual(wanted);
  await db.posts.deleteMany({ where: { userId: 3 } });
  expect((await db.users.findMany(without)).items).toEqual(wanted);
  const within = await db.transaction(async (tx) => (await tx.users.findMany(without)).items);
  expect(within).toEqual(wanted);
});
