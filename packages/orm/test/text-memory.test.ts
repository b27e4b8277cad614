import { openKv } from "@keywright/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { textSizes } from "../src/derived/text/compact/text-upkeep.js";
import { countingKv } from "./counting-kv.js";
import { openPosts } from "./text-posts.js";

const sizes = { ...textSizes };
beforeAll(() => {
  Object.assign(textSizes, { fold: 4, marks: 2, fanOut: 100, changesBetween: 1 });
});
afterAll(() => {
  Object.assign(textSizes, sizes);
});

it("searches read fresh documents and marks once after each commit, whoever makes it", async () => {
  await using kv = await openKv();
  const { kv: counted, calls } = countingKv(kv);
  const db = await openPosts(counted);
  const other = await openPosts(kv);
  const where = { tenant: "a" };
  const create = (client: typeof db, id: string) =>
    client.posts.create({ data: { id, tenant: "a", title: `fox ${id}`, draft: false } });
  const found = async () => {
    Object.assign(calls, { get: 0, getMany: 0, list: 0 });
    const { items, count } = await db.posts.search({ query: "fox", where });
    expect(items).toHaveLength(count);
    return items.map(({ row }) => row.id).join(" ");
  };
  for (let i = 0; i < 9; i++) await create(db, `p${i}`);
  for (let i = 0; i < 4; i++) expect(await found()).toBe("p0 p1 p2 p3 p4 p5 p6 p7 p8");
  // The list of segments; the blocks of the word; the rows.
  expect(calls).toMatchObject({ get: 1, getMany: 2, list: 0 });
  await create(other, "q");
  expect(await found()).toBe("p0 p1 p2 p3 p4 p5 p6 p7 p8 q");
  expect(calls.list).toBe(1);
  expect(await found()).toBe("p0 p1 p2 p3 p4 p5 p6 p7 p8 q");
  expect(calls.list).toBe(0);
  await other.posts.delete({ where: { id: "p0" } });
  expect(await found()).toBe("p1 p2 p3 p4 p5 p6 p7 p8 q");
  expect(calls.list).toBe(1);
  await db.snapshot(async (at) => {
    await create(other, "r");
    const { count } = await at.posts.search({ query: "fox", where });
    expect(count).toBe(9);
    expect(await found()).toBe("p1 p2 p3 p4 p5 p6 p7 p8 q r");
    expect((await at.posts.search({ query: "fox", where })).count).toBe(9);
  });
});
