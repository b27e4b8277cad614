import { type EmbeddedKv, type KvKey, openKv } from "@keywright/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { textSizes } from "../src/derived/text/compact/text-upkeep.js";
import { verifyIndexes } from "../src/migrate.js";
import { expectSearches, openPosts, type PostRow } from "./text-posts.js";

const sizes = { ...textSizes };
beforeAll(() => {
  Object.assign(textSizes, { fold: 4, marks: 2, fanOut: 3, changesBetween: 1 });
});
afterAll(() => {
  Object.assign(textSizes, sizes);
});

const rowOf = (i: number): PostRow => ({
  id: `p${i}`,
  tenant: "a",
  title: i % 2 === 0 ? "quick brown fox" : "lazy dogs",
  body: "jumping cat",
  draft: false,
});

type Damage = (kv: EmbeddedKv, key: KvKey) => unknown;
const remove: Damage = (kv, key) => kv.delete(key);
const cut: Damage = (kv, key) => kv.set(key, new Uint8Array([9, 255, 255, 3]));
const replace: Damage = (kv, key) => kv.set(key, "something else");

it.each([
  ["words", 6, remove],
  ["words", 6, cut],
  ["words", 6, replace],
  ["docs", 4, remove],
  ["docs", 4, cut],
  ["docs", 5, remove],
  ["docs", 5, cut],
  ["lengths", 5, remove],
  ["lengths", 5, cut],
  ["gone", 4, replace],
  ["gone", 4, cut],
  ["fresh", 4, cut],
  ["state", 3, remove],
] as const)("%s with %i parts in the key are repaired", async (section, length, damage) => {
  await using kv = await openKv();
  const db = await openPosts(kv);
  const rows = new Map<string, PostRow>();
  const put = async (row: PostRow) => {
    const { id } = row;
    await db.posts.upsert({ where: { id }, create: row, update: row });
    rows.set(id, row);
  };
  for (let i = 0; i < 21; i++) await put(rowOf(i));
  for (let i = 0; i < 5; i++) await put({ ...rowOf(i), title: "brown car" });
  let damaged = 0;
  for await (const { key } of kv.list({ prefix: ["posts_search", "a"] })) {
    if (key[2] !== section || key.length !== length) continue;
    await damage(kv, key);
    damaged++;
  }
  expect(damaged).toBeGreaterThan(0);
  const found = await verifyIndexes(db).then(
    ({ models }) => models[0]!.findings.length > 0,
    ({ code }: { code: string }) => code === "KW_SYSTEM_ENTRY_INVALID",
  );
  expect(found).toBe(true);
  await verifyIndexes(db, { repair: true });
  const none = { missing: 0, dangling: 0, mismatched: 0 };
  expect((await verifyIndexes(db)).models[0]?.counts).toEqual(none);
  await expectSearches(db, [...rows.values()]);
  for (let i = 15; i < 35; i++) await put({ ...rowOf(i), body: "a lazy fox" });
  expect((await verifyIndexes(db)).models[0]?.counts).toEqual(none);
  await expectSearches(db, [...rows.values()]);
});
