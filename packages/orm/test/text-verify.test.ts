import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
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

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(async () => {
  vi.useRealTimers();
  await kv.close();
});

const rowOf = (i: number): PostRow => ({
  id: `p${i}`,
  tenant: "a",
  title: i % 2 === 0 ? "quick brown fox" : "lazy dogs",
  body: "jumping cat",
  draft: false,
});

const storedRows = async () => {
  const stored: PostRow[] = [];
  for await (const { value } of kv.list<PostRow>({ prefix: ["posts"] })) stored.push(value);
  return stored;
};

it("is verified, and repaired where rows were changed without the ORM", async () => {
  const db = await openPosts(kv);
  for (let i = 0; i < 30; i++) await db.posts.create({ data: rowOf(i) });
  await db.posts.update({ where: { id: "p3" }, data: { title: "a lazy car" } });
  await db.posts.delete({ where: { id: "p4" } });
  const [right] = (await verifyIndexes(db)).models;
  expect(right).toMatchObject({ counts: { missing: 0, dangling: 0, mismatched: 0 } });

  await kv.delete(["posts", "p0"]);
  await kv.set(["posts", "p1"], { ...rowOf(1), title: "another fox" });
  await kv.set(["posts", "p2"], { ...rowOf(2), tenant: "b" });
  await kv.set(["posts", "p99"], rowOf(99));
  await kv.delete(["posts", "p28"]);
  const [wrong] = (await verifyIndexes(db)).models;
  expect(wrong?.counts).toEqual({ missing: 2, dangling: 3, mismatched: 1 });
  const [repaired] = (await verifyIndexes(db, { repair: true })).models;
  expect(repaired?.findings.every((finding) => finding.repaired)).toBe(true);
  const [after] = (await verifyIndexes(db)).models;
  expect(after).toMatchObject({ counts: { missing: 0, dangling: 0, mismatched: 0 } });
  await expectSearches(db, await storedRows());
});

it("is right after rows have expired, and after others took their places", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const db = await openPosts(kv);
  for (let i = 0; i < 12; i++)
    await db.posts.create({ data: rowOf(i), ...(i % 2 === 0 && { expireIn: 1000 }) });
  const { segments } = await db.posts.explainSearch({ query: "fox", where: { tenant: "a" } });
  expect(segments.length).toBeGreaterThan(0);
  vi.setSystemTime(Date.now() + 2000);
  await db.posts.create({ data: { ...rowOf(0), title: "another" } });
  const [verified] = (await verifyIndexes(db)).models;
  expect(verified?.counts).toEqual({ missing: 0, dangling: 0, mismatched: 0 });
});
