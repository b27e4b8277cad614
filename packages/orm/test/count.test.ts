import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel } from "../src/index.js";

const Word = defineModel({
  name: "words",
  schema: z.object({ id: z.string(), tags: z.array(z.string()) }),
  primaryKey: "id",
  indexes: {
    byFirstTag: { key: ({ tags }) => tags[0] },
  },
  count: true,
});

it("counts the rows that findMany finds, also by an order that leaves some out", async () => {
  const kv = await openKv();
  try {
    const db = await createDatabase({ kv, models: { words: Word } });
    await db.words.create({ data: { id: "none", tags: [] } });
    // The types refuse the order without the index.
    const query = { orderBy: { byFirstTag: "asc" } } as never;
    expect(await db.words.count(query)).toBe(0);
    expect(await db.words.exists(query)).toBe(false);
    await db.words.create({ data: { id: "some", tags: ["x"] } });
    expect((await db.words.findMany(query)).items).toHaveLength(1);
    expect(await db.words.count(query)).toBe(1);
    expect(await db.words.exists(query)).toBe(true);
    expect(await db.words.count({ orderBy: { id: "desc" } })).toBe(2);
    expect(await db.words.count()).toBe(2);
  } finally {
    await kv.close();
  }
});

const lower = (text: string) => text.toLowerCase();

const Name = defineModel({
  name: "names",
  schema: z.object({ id: z.string(), n: z.string() }),
  primaryKey: "id",
  indexes: {
    exact: { key: "n" },
    folded: { key: "n", normalize: lower, include: ["n"], count: true },
    counted: { key: "n", count: true },
  },
});

it("one index decides which rows a query finds, however it is called", async () => {
  const kv = await openKv();
  const reads: number[] = [];
  try {
    const db = await createDatabase({
      kv,
      models: { names: Name },
      onQuery: (event) => reads.push(event.reads),
    });
    await db.names.createMany({ data: ["a", "A", "b"].map((n) => ({ id: n, n })) });
    const where = { n: "a" };
    const ids = ["a"];
    expect((await db.names.findMany({ where })).items.map(({ id }) => id)).toEqual(ids);
    // The entries of `folded` hold what is selected, but it would find other rows.
    const selected = await db.names.findMany({ where, select: { n: true } });
    expect(selected.items).toEqual([{ n: "a" }]);
    expect(await db.names.explain({ where, select: { n: true } })).toMatchObject({
      index: "exact",
    });
    reads.length = 0;
    expect(await db.names.count({ where })).toBe(1);
    // The counter of an index with the same rows.
    expect(reads).toEqual([1]);
    expect(await db.names.count({ where: { n: { in: ["A", "b"] } } })).toBe(2);
    expect(await db.names.exists({ where: { n: "B" } })).toBe(false);
    const watched = db.names.watchMany({ where }).getReader();
    expect((await watched.read()).value?.map(({ id }) => id)).toEqual(ids);
    await watched.cancel();
    expect(await db.names.count({ where, index: "folded" })).toBe(2);
    expect((await db.names.updateMany({ where, data: { n: "c" } })).count).toBe(1);
    expect((await db.names.deleteMany({ where: { n: "B" } })).count).toBe(0);
    expect((await db.names.deleteMany({ where: { n: "c" } })).count).toBe(1);
  } finally {
    await kv.close();
  }
});
