import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { packGone } from "../src/derived/text/compact/pack-gone.js";
import { textSizes } from "../src/derived/text/compact/text-upkeep.js";
import type { TextGroup } from "../src/derived/text/text-keys.js";
import type { TextState } from "../src/derived/text/text-state.js";
import type { ModelStore } from "../src/state/context/model-store.js";
import { denoKv } from "./faulty-kv.js";
import { openPosts } from "./text-posts.js";

it("segments are merged where a commit has few checks", async () => {
  await using kv = await openKv();
  const db = await openPosts(denoKv(kv));
  for (let i = 0; i < 1000; i++) {
    const data = { id: `p${i}`, tenant: "a", title: "quick fox", draft: false };
    await db.posts.create({ data });
  }
  const { value } = await kv.get<{ segments: unknown[]; unfinished: unknown[] }>([
    "posts_search",
    "a",
    "state",
  ]);
  expect(value?.segments.length).toBeLessThan(24);
  expect(value?.unfinished).toEqual([]);
  expect((await db.posts.search({ query: "fox", where: { tenant: "a" } })).count).toBe(1000);
});

it("writers merge segments until they have about as many documents as they may merge", async () => {
  const sizes = { ...textSizes };
  Object.assign(textSizes, { fold: 2, maxMerged: 512, changesBetween: 1, changesBetweenSteps: 1 });
  try {
    await using kv = await openKv();
    const db = await openPosts(kv);
    for (let i = 0; i < 2500; i++)
      await db.posts.create({ data: { id: `p${i}`, tenant: "a", title: "fox", draft: false } });
    const { value } = await kv.get<TextState>(["posts_search", "a", "state"]);
    expect(value?.segments.filter(({ docs }) => docs >= 128).length).toBeLessThan(11);
    expect(value?.segments.map(({ docs }) => docs)).toContain(512);
    expect((await db.posts.search({ query: "fox", where: { tenant: "a" } })).count).toBe(2500);
  } finally {
    Object.assign(textSizes, sizes);
  }
});

it("marks of a segment that was merged become no list, which would stay", async () => {
  await using kv = await openKv();
  const group = { index: { place: "notes", parts: [] }, values: [] } as unknown as TextGroup;
  const check = { key: ["catalog"], versionstamp: null };
  const limits = { mutations: 1000, batchSize: 500, checks: 100 };
  const catalog = { snapshot: { check } };
  const store = { kv, model: { name: "notes" }, catalog, limits } as unknown as ModelStore;
  const state = { format: 1, next: 3, segments: [], unfinished: [], left: [1] };
  await kv.set(["notes", "state"], state);
  await kv.set(["notes", "gone", 1, 5], true);
  expect(await packGone(store, group, 1, 10)).toBe(0);
  expect((await kv.get(["notes", "gone", 1])).value).toBeNull();
});
