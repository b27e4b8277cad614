import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { MergeProgress } from "../src/derived/text/compact/merge-progress.js";
import { textSizes } from "../src/derived/text/compact/text-upkeep.js";
import type { TextState } from "../src/derived/text/text-state.js";
import { createDatabase, defineModel, migrate } from "../src/index.js";
import { Crash, crashingKv, denoKv, interferingKv } from "./faulty-kv.js";
import { expectSearches, openPosts, Post, type PostRow } from "./text-posts.js";

// Small segments, so that few rows make several.
const sizes = { ...textSizes };
beforeAll(() => {
  Object.assign(textSizes, {
    fold: 4,
    filled: 4,
    maxFilled: 3,
    marks: 2,
    fanOut: 2,
    changesBetween: 1,
    stepTime: 0,
    lease: 0,
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

const Plain = defineModel({ name: "posts", schema: Post.schema, primaryKey: "id" });
const words = ["quick", "brown", "fox", "lazy", "dogs", "cat", "car", "jumping"];
const rowOf = (i: number): PostRow => ({
  id: `p${i}`,
  tenant: i % 3 === 0 ? "a" : "b",
  title: `${words[i % 8]} ${words[(i * 3) % 8]} ${words[(i * 5 + 1) % 8]}`,
  body: i % 4 === 0 ? undefined : `${words[(i * 7) % 8]} brown fox ${words[i % 5]}`,
  draft: i % 7 === 6,
});
const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => rowOf(from + i));

const storedRows = async () => {
  const stored: PostRow[] = [];
  for await (const { value } of kv.list<PostRow>({ prefix: ["posts"] })) stored.push(value);
  return stored;
};

const keysOfIndex = async () => {
  let keys = 0;
  for await (const _ of kv.list({ prefix: ["posts_search"] })) keys++;
  return keys;
};

const fill = async (count: number) => {
  const db = await createDatabase({ kv, models: { posts: Plain } });
  await db.posts.createMany({ data: rows(0, count) });
};

describe("a text index that is new to a model with rows", () => {
  it.each([
    ["the embedded database", (on: Kv) => on],
    ["a database with Deno KV's limits", denoKv],
  ])("is built, used and dropped on %s", async (_, wrap) => {
    await fill(60);
    const db = await openPosts(wrap(kv));
    const search = () => db.posts.search({ query: "fox", where: { tenant: "a" } });
    await expect(search()).rejects.toMatchObject({ code: "KW_INDEX_NOT_READY" });
    expect((await migrate(db)).status).toBe("done");
    await expectSearches(db, await storedRows());
    const { value } = await kv.get<{ segments: unknown[] }>(["posts_search", "b", "state"]);
    expect(value?.segments).toHaveLength(1);
    await db.posts.createMany({ data: rows(60, 90) });
    for (let i = 0; i < 40; i += 3)
      await db.posts.update({ where: { id: `p${i}` }, data: { title: "lazy cat" } });
    for (let i = 1; i < 30; i += 3) await db.posts.delete({ where: { id: `p${i}` } });
    await expectSearches(db, await storedRows());
    const plain = await createDatabase({ kv: wrap(kv), models: { posts: Plain } });
    expect((await migrate(plain, { accept: true })).status).toBe("done");
    expect(await keysOfIndex()).toBe(0);
  });

  it("is built although the migration dies at any commit", async () => {
    for (let at = 1; ; at++) {
      await kv.close();
      kv = await openKv();
      await fill(30);
      const moment = at % 2 === 0 ? "before" : "after";
      const run = async (on: Kv) => (await migrate(await openPosts(on))).status;
      const status = await run(crashingKv(kv, at, moment)).catch((error: unknown) => {
        if (!(error instanceof Crash)) throw error;
        return "crashed";
      });
      if (status === "crashed") {
        const { value } = await kv.get(["__keywright", "lease"]);
        if (value !== null) await kv.delete(["__keywright", "lease"]);
        expect(await run(kv)).toBe("done");
      }
      await expectSearches(await openPosts(kv), await storedRows());
      if (status !== "crashed") break;
    }
  });

  it("has rows that were written while a migration that died joined segments only once", async () => {
    const inA = (id: string) => ({ ...rowOf(0), id });
    const plain = await createDatabase({ kv, models: { posts: Plain } });
    await plain.posts.createMany({ data: Array.from({ length: 10 }, (_, i) => inA(`p${i}`)) });
    const writer = await openPosts(kv);
    const writing = (write: () => Promise<unknown>, dies: boolean) => {
      let hasWritten = false;
      return interferingKv(kv, async (keys) => {
        const sections = keys.filter(([place]) => place === "posts_search").map((key) => key[2]);
        if (dies && sections.includes("merge")) throw new Crash();
        if (hasWritten || !sections.includes("state")) return;
        hasWritten = true;
        await write();
      });
    };
    // The scan does not find this row. It is folded before the segments are merged.
    const first = writing(() => writer.posts.create({ data: inA("q") }), true);
    await expect(migrate(await openPosts(first))).rejects.toThrow(Crash);
    await kv.delete(["__keywright", "lease"]);
    const second = writing(() => writer.posts.delete({ where: { id: "q" } }), false);
    expect((await migrate(await openPosts(second))).status).toBe("done");
    const { count } = await writer.posts.search({ query: "quick", where: { tenant: "a" } });
    expect(count).toBe(10);
    await expectSearches(writer, await storedRows());
  });

  it("has a short list of segments where a commit has few checks", async () => {
    await fill(150);
    let most = 0;
    const watched = interferingKv(kv, async () => {
      const { value } = await kv.get<TextState>(["posts_search", "b", "state"]);
      most = Math.max(most, value?.segments.length ?? 0);
    });
    expect((await migrate(await openPosts(denoKv(watched)))).status).toBe("done");
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(textSizes.maxFilled);
    await expectSearches(await openPosts(kv), await storedRows());
  });

  it("is right although a writer dies at any commit, also of a fold or a merge", async () => {
    for (let at = 1; ; at++) {
      await kv.close();
      kv = await openKv();
      const crashing = crashingKv(kv, at, at % 2 === 0 ? "before" : "after");
      const write = async () => {
        const db = await openPosts(crashing);
        for (const data of rows(0, 14)) await db.posts.create({ data });
        for (let i = 0; i < 6; i += 2) {
          await db.posts.update({ where: { id: `p${i}` }, data: { title: "lazy cat" } });
          await db.posts.delete({ where: { id: `p${i + 1}` } });
        }
        return "done";
      };
      const status = await write().catch((error: unknown) => {
        if (!(error instanceof Crash)) throw error;
        return "crashed";
      });
      const db = await openPosts(kv);
      for (const data of rows(100, 104)) await db.posts.create({ data });
      await expectSearches(db, await storedRows());
      if (status !== "crashed") break;
    }
  });
});

it("finds what several clients write at the same time", async () => {
  const db = await openPosts(kv);
  const other = await openPosts(kv);
  await Promise.all(
    rows(0, 64).map(async (data, i) => {
      const client = i % 2 === 0 ? db : other;
      await client.posts.create({ data });
      if (i % 3 === 0) await client.posts.update({ where: { id: data.id }, data: { body: "car" } });
      if (i % 5 === 0) await client.posts.delete({ where: { id: data.id } });
    }),
  );
  await expectSearches(db, await storedRows());
});

it("continues the merge of a process that has ended, in steps after later writes", async () => {
  const stateOf = async () => {
    const { value } = await kv.get<TextState>(["posts_search", "b", "state"]);
    return value ?? ({ segments: [], unfinished: [], left: [] } as Partial<TextState> as TextState);
  };
  const first = await openPosts(kv);
  let at = 0;
  const write = async (db: typeof first) => {
    await db.posts.create({ data: { ...rowOf(at), tenant: "b" } });
    at++;
    return await stateOf();
  };
  let state = await stateOf();
  while (state.unfinished.length === 0) state = await write(first);
  const { id } = state.unfinished[0]!;
  // A merge of few documents needs several writes. The first ones read the documents of a segment.
  const progress = async () =>
    (await kv.get<MergeProgress>(["posts_search", "b", "merge", id])).value;
  expect(await progress()).toMatchObject({ docs: null });
  expect((await write(first)).unfinished).toMatchObject([{ id }]);
  expect(await progress()).toMatchObject({ docs: null });
  // Another process continues a merge whose documents are written. It gives up any other.
  for (let more = 0; more < 20 && (await progress())?.docs === null; more++) await write(first);
  // A database of its own, for which nothing is begun.
  const second = await openPosts(crashingKv(kv, Number.POSITIVE_INFINITY, "after"));
  while (state.unfinished.some((unfinished) => unfinished.id === id)) state = await write(second);
  expect(state.segments.map((segment) => segment.id)).toContain(id);
  for (let more = 0; more < 200 && state.left.length > 0; more++) state = await write(second);
  const known = new Set([...state.segments, ...state.unfinished].map((segment) => segment.id));
  for await (const { key } of kv.list({ prefix: ["posts_search", "b", "words"] }))
    expect(known).toContain(key[3]);
  await expectSearches(second, await storedRows());
});
