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
