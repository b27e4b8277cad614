import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
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
afterEach(() => kv.close());

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
