import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { textSizes } from "../src/derived/text/compact/text-upkeep.js";
import { createDatabase, defineModel } from "../src/index.js";

const sizes = { ...textSizes };
beforeAll(() => {
  Object.assign(textSizes, { fold: 2, marks: 2, fanOut: 2, changesBetween: 1 });
});
afterAll(() => {
  Object.assign(textSizes, sizes);
});

const Note = defineModel({
  name: "notes",
  schema: z.object({
    id: z.string(),
    tenant: z.string(),
    text: z.string(),
    stars: z.number(),
    deletedAt: z.date().optional(),
  }),
  primaryKey: "id",
  softDelete: "deletedAt",
  indexes: { search: { text: "text", key: "tenant" } },
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(async () => {
  await kv.close();
  vi.useRealTimers();
});

const open = () => createDatabase({ kv, models: { notes: Note } });
const noteOf = (i: number, text = "quick fox") => ({ id: `n${i}`, tenant: "a", text, stars: i });

describe("search", () => {
  it("leaves out rows that have expired, fresh or in a segment", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const db = await open();
    for (let i = 0; i < 5; i++)
      await db.notes.create({ data: noteOf(i), ...(i % 2 === 0 && { expireIn: 1000 }) });
    const search = () => db.notes.search({ query: "fox", where: { tenant: "a" } });
    expect((await search()).count).toBe(5);
    vi.setSystemTime(Date.now() + 2000);
    const { items, count } = await search();
    expect(items.map(({ row }) => row.id)).toEqual(["n1", "n3"]);
    expect(count).toBe(2);
    await db.notes.create({ data: noteOf(0, "a fox again") });
    expect((await search()).items.map(({ row }) => row.id)).toEqual(["n1", "n3", "n0"]);
  });

  it("leaves out rows that are marked as deleted, and finds them when they are restored", async () => {
    const db = await open();
    for (let i = 0; i < 5; i++) await db.notes.create({ data: noteOf(i) });
    await db.notes.delete({ where: { id: "n2" } });
    const count = async () =>
      (await db.notes.search({ query: "fox", where: { tenant: "a" } })).count;
    expect(await count()).toBe(4);
    await db.notes.restore({ where: { id: "n2" } });
    expect(await count()).toBe(5);
  });

  it("applies a filter, fields, and a limit of reads", async () => {
    const db = await open();
    for (let i = 0; i < 9; i++) await db.notes.create({ data: noteOf(i) });
    const where = { tenant: "a" };
    const { items, cursor, count } = await db.notes.search({
      query: "fox",
      where,
      filter: (row) => row.stars > 3,
      take: 2,
      select: { id: true },
    });
    expect(items.map(({ row }) => row)).toEqual([{ id: "n4" }, { id: "n5" }]);
    expect(count).toBe(9);
    const next = await db.notes.search({
      query: "fox",
      where,
      filter: (row) => row.stars > 3,
      cursor,
    });
    expect(next.items.map(({ row }) => row.id)).toEqual(["n6", "n7", "n8"]);
    expect(next.cursor).toBeNull();
    await expect(db.notes.search({ query: "fox", where, maxReads: 3 })).rejects.toMatchObject({
      code: "KW_READ_LIMIT",
    });
    const stored = JSON.parse(Buffer.from(cursor!, "base64url").toString()) as object;
    const changed = Buffer.from(JSON.stringify({ ...stored, score: 1e9 })).toString("base64url");
    for (const options of [
      { query: "quick", cursor: cursor! },
      { query: "fox", cursor: changed },
      { query: "fox", cursor: cursor!.slice(0, -4) },
    ])
      await expect(db.notes.search({ where, ...options })).rejects.toMatchObject({
        code: "KW_CURSOR_INVALID",
      });
  });

  it("looks within a scope", async () => {
    const db = await open();
    await db.notes.create({ data: noteOf(1) });
    await db.notes.create({ data: { ...noteOf(2), tenant: "b" } });
    const scoped = db.scope({ tenant: "b" });
    const { items, count } = await scoped.notes.search({ query: "fox" });
    expect(items.map(({ row }) => row.id)).toEqual(["n2"]);
    expect(count).toBe(1);
  });

  it("answers any text, also one without words", async () => {
    const db = await open();
    await db.notes.create({ data: noteOf(1) });
    for (const query of ["", "-fox", '"', "***", "OR", "tenant:a fox*"]) {
      const { count } = await db.notes.search({ query, where: { tenant: "a" } });
      expect(count).toBe(0);
    }
  });
});
