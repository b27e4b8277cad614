import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { rowsOf } from "../src/codegen.js";
import { createDatabase, defineModel, snippet } from "../src/index.js";

const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), tenantId: z.string(), body: z.string(), likes: z.int() }),
  primaryKey: "id",
  indexes: { search: { text: "body", key: "tenantId", language: "english" } },
});

it("a generated repository and a scope search as db.posts does", async () => {
  const kv = await openKv();
  try {
    const db = await createDatabase({ kv, models: { posts: Post } });
    await db.posts.createMany({
      data: [
        { id: "1", tenantId: "a", body: "Quick foxes run through the old woods", likes: 1 },
        { id: "2", tenantId: "a", body: "A fox, a fox & a <dog>", likes: 5 },
        { id: "3", tenantId: "b", body: "Another fox", likes: 9 },
      ],
    });
    const where = { tenantId: "a" };
    const page = await db.posts.search({ query: "fox", where });
    expect(page.items.map(({ row }) => row.id)).toEqual(["2", "1"]);
    expect(page.count).toBe(2);
    const [{ row, highlights }] = page.items as [(typeof page.items)[number]];
    expect(snippet(row.body, highlights.body)).toBe(
      "A <mark>fox</mark>, a <mark>fox</mark> &amp; a &lt;dog&gt;",
    );

    const generated = rowsOf(db, "posts");
    expect(await generated.search({ query: "fox", where, index: "search" })).toEqual(page);
    expect(await db.scope(where).posts.search({ query: "fox" })).toEqual(page);
    const liked = await db.posts.search({
      query: "fox",
      where,
      filter: ({ likes }) => likes < 5,
      select: { id: true },
    });
    expect(liked.items.map((item) => item.row)).toEqual([{ id: "1" }]);
  } finally {
    await kv.close();
  }
});
