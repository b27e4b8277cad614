import { openKv } from "@keywright/core";
import { afterEach, expect, it, vi } from "vitest";
import * as z from "zod";
import { textSizes } from "../src/derived/text/compact/text-upkeep.js";
import { createDatabase, defineModel } from "../src/index.js";
import { BestFirst } from "../src/read/search/best-docs.js";
import type { TextSource } from "../src/read/search/sources/text-source.js";
import { lateKv } from "./faulty-kv.js";

const sizes = { ...textSizes };
afterEach(() => {
  Object.assign(textSizes, sizes);
  vi.useRealTimers();
});

const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), a: z.string(), b: z.string(), c: z.string() }),
  primaryKey: "id",
  indexes: { search: { text: ["a", "b", "c"], weights: { a: 0.1, b: 0.7, c: 0.3 } } },
});

it("rows keep their scores when they are moved to a segment between two pages", async () => {
  await using kv = await openKv();
  const db = await createDatabase({ kv, models: { posts: Post } });
  Object.assign(textSizes, { fold: 1000, changesBetween: 1 });
  const { posts } = db;
  await posts.create({ data: { id: "0", a: "ca3", b: "", c: "" } });
  for (let i = 1; i < 9; i++)
    await posts.create({ data: { id: `${i}`, a: "ca1", b: "ca2", c: "ca3" } });
  const first = await posts.search({ query: "ca*", take: 3 });
  textSizes.fold = 4;
  await posts.create({ data: { id: "90", a: "dog", b: "", c: "" } });
  const second = await posts.search({ query: "ca*", cursor: first.cursor });
  const ids = [...first.items, ...second.items].map(({ row }) => row.id);
  expect(ids.join("")).toBe("123456780");
});

it("a query that is no string is refused", async () => {
  await using kv = await openKv();
  const { posts } = await createDatabase({ kv, models: { posts: Post } });
  for (const query of [undefined, null, 5, ["fox"]]) {
    const search = posts.search({ query: query as unknown as string });
    await expect(search).rejects.toMatchObject({ code: "KW_QUERY_INVALID", field: "query" });
  }
  const search = posts.search({ query: "fox", cursor: 5 as unknown as string });
  await expect(search).rejects.toMatchObject({ code: "KW_CURSOR_INVALID" });
});

it("rows that have expired do not count, also if the database still returns them", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  await using kv = await openKv();
  const { posts } = await createDatabase({ kv: lateKv(kv), models: { posts: Post } });
  await posts.create({ data: { id: "1", a: "fox", b: "", c: "" }, expireIn: 1000 });
  await posts.create({ data: { id: "2", a: "fox", b: "", c: "" } });
  vi.setSystemTime(Date.now() + 2000);
  const { items, count } = await posts.search({ query: "fox" });
  expect({ ids: items.map(({ row }) => row.id), count }).toEqual({ ids: ["2"], count: 1 });
});

it("documents are looked through again only a few times, however few are taken each time", async () => {
  const size = 5000;
  let looks = 0;
  const source = {
    keysOf: async (docs: readonly number[]) => {
      looks++;
      return docs.map((doc) => Uint8Array.of(doc >> 8, doc & 0xff));
    },
  } as unknown as TextSource;
  const docs = Int32Array.from({ length: size }, (_, doc) => doc);
  const order = new BestFirst(
    [{ source, docs, scores: new Float64Array(size).fill(1) }],
    undefined,
  );
  const found: number[] = [];
  while (order.hasMore)
    for (const { key } of await order.next(1)) found.push(key[0]! * 256 + key[1]!);
  expect(found).toEqual([...docs]);
  // Finding the place after which to continue takes a look at each step of a binary search.
  expect(looks).toBeLessThan(300);
});
