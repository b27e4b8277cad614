import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { textSizes } from "../src/derived/text/compact/text-upkeep.js";
import type { TextState } from "../src/derived/text/text-state.js";
import { createDatabase, defineModel } from "../src/index.js";

const sizes = { ...textSizes };
beforeAll(() => {
  Object.assign(textSizes, { fold: 8, marks: 4, fanOut: 3, changesBetween: 1, stepTime: 60_000 });
});
afterAll(() => {
  Object.assign(textSizes, sizes);
});

const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), tenant: z.string(), title: z.string(), body: z.string() }),
  primaryKey: "id",
  indexes: {
    search: { text: ["title", "body"], key: "tenant", language: "english", stopWords: ["the"] },
  },
});

/**
 * Calls a function with a database, and with a function that returns the reads of its last call.
 */
async function withPosts<T>(
  run: (
    db: Awaited<ReturnType<typeof open>>["db"],
    reads: () => number,
    kv: EmbeddedKv,
  ) => Promise<T>,
): Promise<T> {
  const { kv, db, reads } = await open();
  try {
    return await run(db, reads, kv);
  } finally {
    await kv.close();
  }
}

async function open() {
  const kv = await openKv();
  let last = 0;
  const onQuery = ({ reads }: { readonly reads: number }) => {
    last = reads;
  };
  const db = await createDatabase({ kv, models: { posts: Post }, onQuery });
  return { kv, db, reads: () => last };
}

const where = { tenant: "a" };
const postOf = (i: number) => ({
  id: `p${i}`,
  tenant: "a",
  title: `Fox ${i}`,
  body: "A quick brown fox jumps",
});

describe("explainSearch", () => {
  it("has the words that the index has, and how they are looked for", () =>
    withPosts(async (db) => {
      const query = 'Jumping OR title:"brown foxes" brow* the -lazy';
      const { terms, excluded, ignored, ...others } = await db.posts.explainSearch({
        query,
        where,
        typos: true,
      });
      const both = ["title", "body"];
      expect(terms).toEqual([
        [
          { words: ["jump"], isPrefix: false, typos: true, fields: both },
          { words: ["brown", "fox"], isPrefix: false, typos: false, fields: ["title"] },
        ],
        [{ words: ["brow"], isPrefix: true, typos: false, fields: both }],
      ]);
      expect(excluded).toEqual([{ words: ["lazi"], isPrefix: false, typos: false, fields: both }]);
      expect(ignored).toMatchObject([{ text: "the", reason: "stopWord" }]);
      // Without rows, only the list of segments is read.
      expect(others).toEqual({
        model: "posts",
        index: "search",
        segments: [],
        fresh: 0,
        estimatedReads: 1,
      });
    }));

  it("estimates what the search then reads", () =>
    withPosts(async (db, reads, kv) => {
      for (let i = 0; i < 45; i++) await db.posts.create({ data: postOf(i) });
      const explained = await db.posts.explainSearch({ query: "fox", where });
      expect(explained.segments.length).toBeGreaterThan(0);
      const rows = explained.segments.reduce((sum, each) => sum + each.rows, 0);
      expect(rows + explained.fresh).toBe(45);
      expect(explained.fresh).toBeGreaterThan(0);
      expect(reads()).toBe(1 + explained.fresh);
      // Searches that remember what earlier ones have read count the same reads.
      for (let i = 0; i < 4; i++) {
        await db.posts.search({ query: "fox", where });
        expect(reads()).toBe(explained.estimatedReads);
      }
      for (const query of ["fox", "quick fox", '"quick brown"', "bro*", "fox -quack"])
        for (const take of [1, 5, 20, 100]) {
          const { estimatedReads } = await db.posts.explainSearch({ query, where, take });
          await db.posts.search({ query, where, take });
          // Words that share a block are read together, which the estimate cannot know.
          const shared = query.split(" ").length === 1 ? 0 : explained.segments.length;
          expect([query, take, reads() <= estimatedReads]).toEqual([query, take, true]);
          expect(reads()).toBeGreaterThanOrEqual(estimatedReads - shared);
        }
      // Also with marks, with lists of them, while a merge is unfinished, and while it is removed.
      Object.assign(textSizes, { stepTime: 0 });
      let unfinished = 0;
      for (let i = 0; i < 40; i++) {
        await db.posts.create({ data: postOf(100 + i) });
        await db.posts.delete({ where: { id: `p${i}` } });
        const { value } = await kv.get<TextState>(["posts_search", "a", "state"]);
        unfinished += value!.unfinished.length + value!.left.length;
        const { estimatedReads, segments } = await db.posts.explainSearch({ query: "fox", where });
        await db.posts.search({ query: "fox", where });
        expect([i, reads() <= estimatedReads]).toEqual([i, true]);
        // If all rows of a segment are gone, none of their keys is read.
        expect(reads()).toBeGreaterThanOrEqual(estimatedReads - segments.length);
      }
      expect(unfinished).toBeGreaterThan(0);
      expect(await db.posts.explainSearch({ query: "-fox", where })).toMatchObject({
        estimatedReads: 0,
        ignored: [{ reason: "onlyExclusions" }],
      });
    }));

  it("is called in a scope, in a transaction and in a snapshot", () =>
    withPosts(async (db) => {
      await db.posts.createMany({ data: [postOf(1), { ...postOf(2), tenant: "b" }] });
      const explained = await db.posts.explainSearch({ query: "fox", where });
      expect(explained.fresh).toBe(1);
      expect(await db.scope(where).posts.explainSearch({ query: "fox" })).toEqual(explained);
      await db.transaction(async (tx) => {
        await tx.posts.create({ data: postOf(3) });
        expect((await tx.posts.explainSearch({ query: "fox", where })).fresh).toBe(2);
      });
      expect(await db.snapshot((at) => at.posts.explainSearch({ query: "fox", where }))).toEqual({
        ...explained,
        fresh: 2,
        estimatedReads: explained.estimatedReads + 2,
      });
    }));

  it("says which index is needed if the model has none or several", async () => {
    const part = { schema: z.object({ id: z.string(), a: z.string() }), primaryKey: "id" } as const;
    const None = defineModel({ name: "none", ...part });
    const Two = defineModel({
      ...{ name: "two", ...part },
      indexes: { one: { text: "a" }, other: { text: "a", language: "english" } },
    });
    await using kv = await openKv();
    const { none, two } = await createDatabase({ kv, models: { none: None, two: Two } });
    for (const [posts, reason] of [
      [none, 'the model has no full-text index; add search: { text: ["<field>"] } to its indexes'],
      [two, "the model has several full-text indexes; name one of one, other"],
    ] as const) {
      const search = (posts as unknown as { search(of: object): Promise<unknown> }).search;
      await expect(search.call(posts, { query: "fox" })).rejects.toMatchObject({
        ...{ code: "KW_ARGUMENT_INVALID", argument: "index", reason },
      });
    }
  });

  it("refuses what a search refuses", () =>
    withPosts(async (db) => {
      const loose = db.posts as unknown as Record<
        "explainSearch" | "search",
        (options: object) => Promise<unknown>
      >;
      const cases = [
        [{ where }, "KW_QUERY_INVALID"],
        [{ query: 5, where }, "KW_QUERY_INVALID"],
        [{ query: "fox", where, typos: "yes" }, "KW_ARGUMENT_INVALID"],
        [{ query: "fox" }, "KW_QUERY_INVALID"],
        [{ query: "fox", where, index: "byTitle" }, "KW_INDEX_UNKNOWN"],
        [{ query: "fox", where, take: 0 }, "KW_ARGUMENT_INVALID"],
        [{ query: "fox", where, orderBy: {} }, "KW_ARGUMENT_INVALID"],
        [{ query: "fox", where, maxReads: 0 }, "KW_READ_LIMIT"],
      ] as const;
      for (const [options, code] of cases)
        for (const method of ["explainSearch", "search"] as const)
          await expect(loose[method](options)).rejects.toMatchObject({ code });
      await expect(loose.search({ query: "fox", where, cursor: 5 })).rejects.toMatchObject({
        code: "KW_CURSOR_INVALID",
      });
      await expect(loose.explainSearch({ query: "fox" })).rejects.toThrow(
        /^posts\.explainSearch: tenant/u,
      );
    }));
});
