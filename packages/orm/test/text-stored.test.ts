import { type EmbeddedKv, KvU64, openKv } from "@keywright/core";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import * as z from "zod";
import { textSizes } from "../src/derived/text/compact/text-upkeep.js";
import { createDatabase, defineModel } from "../src/index.js";

const sizes = { ...textSizes };
beforeAll(() => {
  Object.assign(textSizes, { fold: 4, marks: 2, fanOut: 3, changesBetween: 1, stepTime: 60_000 });
});
afterAll(() => {
  Object.assign(textSizes, sizes);
  vi.useRealTimers();
});

const Post = defineModel({
  name: "posts",
  schema: z.object({
    id: z.string(),
    tenant: z.string(),
    title: z.string(),
    tags: z.array(z.string()),
  }),
  primaryKey: "id",
  indexes: {
    search: { text: ["title", "tags"], key: "tenant", language: "english", weights: { title: 2 } },
  },
});

async function entriesOf(kv: EmbeddedKv): Promise<string> {
  const entries: string[] = [];
  for await (const { key, value, expireAt } of kv.list({ prefix: ["posts_search"] })) {
    const stored =
      value instanceof Uint8Array
        ? { bytes: Buffer.from(value).toString("hex") }
        : value instanceof KvU64
          ? { u64: String(value.value) }
          : { value };
    entries.push(JSON.stringify({ key, ...stored, ...(expireAt !== undefined && { expireAt }) }));
  }
  return `${entries.join("\n")}\n`;
}

it("the progress of a merge is stored as it always was", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_800_000_000_000 });
  Object.assign(textSizes, { stepTime: 0 });
  const kv = await openKv();
  try {
    const db = await createDatabase({ kv, models: { posts: Post } });
    const stages = new Set<string>();
    // Three segments of four rows are merged.
    for (let i = 0; i < 30; i++) {
      const data = { id: `p${i}`, tenant: "a", title: `Foxes ${i % 4}`, tags: ["red"] };
      await db.posts.create({ data });
      for await (const { key, value } of kv.list({ prefix: ["posts_search", "a", "merge"] }))
        if (key[3] === 4) stages.add(JSON.stringify({ key, value }));
    }
    await expect(`${[...stages].join("\n")}\n`).toMatchFileSnapshot("golden/text-merge.txt");
  } finally {
    await kv.close();
    Object.assign(textSizes, { stepTime: 60_000 });
  }
});

it("words of fresh rows, of segments and of a merged segment are stored as they always were", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_800_000_000_000 });
  const kv = await openKv();
  try {
    const db = await createDatabase({ kv, models: { posts: Post } });
    const create = async (i: number, tenant: string) =>
      await db.posts.create({
        data: { id: `p${i}`, tenant, title: `Jumping foxes ${i}`, tags: ["red fox", "Ünïcode"] },
        ...(i % 5 === 0 && { expireIn: 86_400_000 }),
      });
    // Three segments of tenant a are merged. Tenant b has one, and fresh rows.
    for (let i = 0; i < 12; i++) await create(i, "a");
    for (let i = 20; i < 26; i++) await create(i, "b");
    // The marks of two rows become a list. The one of the third remains a mark.
    for (const id of ["p20", "p21", "p22"]) await db.posts.delete({ where: { id } });
    await db.posts.update({ where: { id: "p24" }, data: { title: "東京で検索" } });
    const stateOf = async (tenant: string) =>
      (await kv.get<Record<"left" | "unfinished", unknown[]>>(["posts_search", tenant, "state"]))
        .value!;
    const isMerging = async () => {
      const { left, unfinished } = await stateOf("a");
      return left.length + unfinished.length > 0;
    };
    // A merge takes steps after later writes. This row is never in a segment, and leaves nothing.
    for (let i = 0; i < 50 && (i === 0 || (await isMerging())); i++) {
      await create(99, "a");
      await db.posts.delete({ where: { id: "p99" } });
    }
    expect(await stateOf("a")).toMatchObject({
      segments: [{ docs: 12 }],
      unfinished: [],
      left: [],
    });
    expect(await stateOf("b")).toMatchObject({ segments: [{ docs: 4, gone: 2 }] });
    await expect(await entriesOf(kv)).toMatchFileSnapshot("golden/text-index.txt");
    const found = await db.posts.search({ query: "fox", where: { tenant: "b" } });
    expect(found.items.map(({ row }) => row.id)).toEqual(["p23", "p25", "p24"]);
  } finally {
    await kv.close();
  }
});
