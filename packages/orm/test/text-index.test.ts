import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { textSizes } from "../src/derived/text/compact/text-upkeep.js";
import { expectSearches, openPosts, type PostRow, postOf } from "./text-posts.js";

// Small segments, so that few rows make several.
const sizes = { ...textSizes };
beforeAll(() => {
  Object.assign(textSizes, {
    fold: 4,
    marks: 3,
    fanOut: 3,
    changesBetween: 2,
    changesBetweenSteps: 1,
    stepTime: 0,
    lease: 1,
  });
});
afterAll(() => {
  Object.assign(textSizes, sizes);
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const open = (on: Kv = kv) => openPosts(on);

describe("a text index", () => {
  it("finds the rows that a search of all rows finds, after any writes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom("put", "put", "put", "delete"), postOf), {
          minLength: 1,
          maxLength: 60,
        }),
        async (writes) => {
          const own = await openKv();
          try {
            const db = await open(own);
            const rows = new Map<string, PostRow>();
            for (const [kind, post] of writes) {
              if (kind === "put") {
                const { id } = post;
                await db.posts.upsert({ where: { id }, create: post, update: post });
                rows.set(id, rows.has(id) ? { ...rows.get(id)!, ...post } : post);
              } else if (rows.delete(post.id)) await db.posts.delete({ where: { id: post.id } });
            }
            await expectSearches(db, [...rows.values()]);
          } finally {
            await own.close();
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it("finds the writes of its own transaction", async () => {
    const db = await open();
    const post = { tenant: "a", draft: false };
    await db.posts.create({ data: { ...post, id: "1", title: "quick fox" } });
    await db.posts.create({ data: { ...post, id: "2", title: "quick dog" } });
    await db.transaction(async (tx) => {
      await tx.posts.create({ data: { ...post, id: "3", title: "a quick cat" } });
      await tx.posts.delete({ where: { id: "1" } });
      const { items } = await tx.posts.search({ query: "quick", where: { tenant: "a" } });
      expect(items.map(({ row }) => row.id).sort()).toEqual(["2", "3"]);
    });
  });

  it("reads a segment with the number of one that was replaced", async () => {
    const db = await open();
    const post = { tenant: "a", draft: false };
    const where = { tenant: "a" };
    const makeSegment = async (words: readonly string[]) => {
      for (const [i, title] of words.entries())
        await db.posts.create({ data: { ...post, id: `${title}${i}`, title: `${title} text` } });
    };
    await makeSegment(["apple", "bread", "cheese", "dates", "eggs", "figs", "grape", "honey"]);
    for (let i = 0; i < 3; i++) {
      const { items } = await db.posts.search({ query: "cheese", where });
      expect(items.map(({ row }) => row.id)).toEqual(["cheese2"]);
    }
    for (const prefix of [["posts"], ["posts_search"]])
      for await (const { key } of kv.list({ prefix })) await kv.delete(key);
    await makeSegment(["zebra", "yak", "xerus", "wolf", "vole", "urial", "tapir", "seal"]);
    for (const [query, ids] of [
      ["wolf", ["wolf3"]],
      ["cheese", []],
    ] as const) {
      const { items } = await db.posts.search({ query, where });
      expect(items.map(({ row }) => row.id)).toEqual(ids);
    }
  });
});
