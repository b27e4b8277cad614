import { expectTypeOf, it } from "vitest";
import * as z from "zod";
import { belongsTo, type Database, defineModel } from "../src/index.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.ulid(), name: z.string() }),
  primaryKey: "id",
});

const Post = defineModel({
  name: "posts",
  schema: z.object({
    id: z.ulid(),
    tenantId: z.string(),
    authorId: z.string(),
    title: z.string(),
    body: z.string().optional(),
    views: z.number(),
  }),
  primaryKey: "id",
  indexes: {
    byTenant: { key: "tenantId" },
    search: { text: ["title", "body"], key: ["tenantId"] },
  },
  relations: { author: belongsTo("users", "authorId") },
});

const Note = defineModel({
  name: "notes",
  schema: z.object({ id: z.ulid(), title: z.string(), body: z.string() }),
  primaryKey: "id",
  indexes: { byTitle: { text: "title" }, byBody: { text: "body" } },
});

type Models = {
  readonly users: typeof User;
  readonly posts: typeof Post;
  readonly notes: typeof Note;
};

/** Is compiled, and not run. */
export async function searches(db: Database<Models>): Promise<void> {
  const where = { tenantId: "a" } as const;
  const page = await db.posts.search({ query: "fox", where });
  expectTypeOf(page.items[0]!.row.title).toEqualTypeOf<string>();
  expectTypeOf(page.items[0]!.score).toEqualTypeOf<number>();
  expectTypeOf(page.cursor).toEqualTypeOf<string | null>();
  expectTypeOf(page.count).toEqualTypeOf<number>();
  const next = await db.posts.search({
    query: "fox",
    where: { tenantId: "a" },
    typos: true,
    take: 5,
    cursor: page.cursor,
    filter: (row) => row.views > 3,
    select: { title: true },
    include: { author: true },
  });
  expectTypeOf(next.items[0]!.row.author.name).toEqualTypeOf<string>();
  // @ts-expect-error It is not selected.
  void next.items[0]!.row.body;
  // @ts-expect-error The key needs a value.
  await db.posts.search({ query: "fox" });
  // @ts-expect-error `views` is not in the key.
  await db.posts.search({ query: "fox", where: { tenantId: "a", views: 3 } });
  // @ts-expect-error The tenant is a text.
  await db.posts.search({ query: "fox", where: { tenantId: 5 } });
  // @ts-expect-error A search needs a query.
  await db.posts.search({ where });
  // @ts-expect-error There is no such option.
  await db.posts.search({ query: "fox", where, orderBy: { id: "asc" } });
  // @ts-expect-error `byTenant` is no full-text index.
  await db.posts.search({ query: "fox", where, index: "byTenant" });
  // @ts-expect-error The model has no full-text index.
  await db.users.search({ query: "fox" });
  // @ts-expect-error The model has two full-text indexes.
  await db.notes.search({ query: "fox" });
  await db.notes.search({ query: "fox", index: "byBody" });
  // @ts-expect-error No query chooses a full-text index.
  await db.posts.findMany({ where, index: "search" });
  await db.scope({ tenantId: "a" }).posts.search({ query: "fox" });
  // @ts-expect-error The scope has the tenant.
  await db.scope({ tenantId: "a" }).posts.search({ query: "fox", where });
  await db.snapshot(async (at) => await at.posts.search({ query: "fox", where }));
}

it("searches with the options that the model allows", () => {
  expectTypeOf(searches).toBeFunction();
});
