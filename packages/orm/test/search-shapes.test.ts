import { openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { type Rows, rowsOf } from "../src/codegen.js";
import { type AnyDatabase, belongsTo, createDatabase, defineModel, hasMany } from "../src/index.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), tenant: z.string(), name: z.string() }),
  primaryKey: "id",
  relations: { posts: hasMany("posts", "authorId") },
  indexes: { byTenant: { key: "tenant" } },
});

const Post = defineModel({
  name: "posts",
  schema: z.object({
    id: z.string(),
    tenant: z.string(),
    authorId: z.string(),
    body: z.string(),
  }),
  primaryKey: "id",
  indexes: {
    byAuthor: { key: "authorId" },
    byAuthorOfTenant: { key: ["tenant", "authorId"] },
    search: { text: "body", key: "tenant", language: "english" },
  },
  relations: { author: belongsTo("users", "authorId") },
});

const ada = { id: "ada", tenant: "a", name: "Ada" };
const bob = { id: "bob", tenant: "b", name: "Bob" };

/** A generated repository, as far as a view of it needs one. */
class View {
  readonly rows: Rows;

  constructor(rows: Rows) {
    this.rows = rows;
  }
}

async function openBlog() {
  const kv = await openKv();
  const db = await createDatabase({ kv, models: { users: User, posts: Post } });
  await db.users.createMany({ data: [ada, bob] });
  await db.posts.createMany({
    data: [
      { id: "1", tenant: "a", authorId: "ada", body: "A fox, a quick fox" },
      { id: "2", tenant: "a", authorId: "ada", body: "Foxes and many other animals" },
      // The author is in another tenant.
      { id: "3", tenant: "a", authorId: "bob", body: "One fox is enough for most of us" },
      { id: "4", tenant: "b", authorId: "bob", body: "A fox" },
    ],
  });
  return { kv, db };
}

describe("search", () => {
  it("returns the fields and the relations that are asked for, with its highlights", async () => {
    const { kv, db } = await openBlog();
    try {
      const where = { tenant: "a" };
      const options = {
        query: "fox",
        select: { id: true },
        include: { author: { select: { name: true } } },
      } as const;
      const { items } = await db.posts.search({ ...options, where });
      expect(items.map(({ row }) => row)).toEqual([
        { id: "1", author: { name: "Ada" } },
        { id: "2", author: { name: "Ada" } },
        { id: "3", author: { name: "Bob" } },
      ]);
      // Highlights are those of fields that are not selected, too.
      expect(items[0]?.highlights).toEqual({
        body: [
          { start: 2, end: 5 },
          { start: 15, end: 18 },
        ],
      });

      const { items: versioned } = await db.posts.search({
        query: "quick",
        where,
        select: { id: true },
        include: { author: true },
        withVersionstamp: true,
      });
      const stored = await db.posts.findUnique({ where: { id: "1" }, withVersionstamp: true });
      expect(versioned.map(({ row }) => row)).toEqual([
        { row: { id: "1", author: ada }, versionstamp: stored?.versionstamp },
      ]);
    } finally {
      await kv.close();
    }
  });

  it("includes rows of the scope only, also by generated repositories", async () => {
    const { kv, db } = await openBlog();
    try {
      const scoped = db.scope({ tenant: "a" });
      const include = { author: { include: { _count: { posts: true } } } } as const;
      const { items, count } = await scoped.posts.search({ query: "fox", take: 2, include });
      expect(count).toBe(3);
      expect(items.map(({ row }) => [row.id, row.author.name, row.author._count.posts])).toEqual([
        ["1", "Ada", 2],
        ["2", "Ada", 2],
      ]);
      // As findMany does, it refuses a row whose author the scope does not have.
      await expect(scoped.posts.search({ query: "enough", include })).rejects.toMatchObject({
        code: "KW_REFERENCE_MISSING",
      });
      const list = { where: { authorId: "bob" }, index: "byAuthorOfTenant" } as const;
      await expect(scoped.posts.findMany({ ...list, include })).rejects.toMatchObject({
        code: "KW_REFERENCE_MISSING",
      });

      // Generated code makes its repositories within a scope in the same way.
      const within = (scope: object): Rows => rowsOf(scope as AnyDatabase, "posts");
      const generated = within(scoped);
      const found = await generated.search({ query: "fox", where: {}, index: "search", take: 2 });
      expect(found.items.map(({ row }) => (row as { readonly id: string }).id)).toEqual(["1", "2"]);
      const { rows } = generated.view(View, { include: { author: true } }) as View;
      const viewed = await rows.search({ query: "quick", where: {}, index: "search" });
      expect(viewed.items.map(({ row }) => row)).toMatchObject([{ id: "1", author: ada }]);
      const other = within(db.scope({ tenant: "b" }));
      const found2 = await other.search({ query: "fox", where: {}, index: "search" });
      expect(found2.items.map(({ row }) => row)).toMatchObject([{ id: "4" }]);
      // A caller cannot leave the scope.
      await expect(
        generated.search({ query: "fox", where: { tenant: "b" }, index: "search" }),
      ).rejects.toMatchObject({ code: expect.stringMatching(/^KW_/u) });
    } finally {
      await kv.close();
    }
  });

  it("includes rows as its transaction sees them", async () => {
    const { kv, db } = await openBlog();
    try {
      await db.transaction(async (tx) => {
        await tx.users.update({ where: { id: "ada" }, data: { name: "Countess" } });
        const { items } = await tx.posts.search({
          query: "quick",
          where: { tenant: "a" },
          include: { author: true },
        });
        expect(items.map(({ row }) => row.author.name)).toEqual(["Countess"]);
      });
    } finally {
      await kv.close();
    }
  });
});
