// Rows of one updateMany share a commit if each of them can be written by it.
import { type Kv, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel } from "../src/index.js";
import { countingKv } from "./counting-kv.js";
import { interferingKv } from "./faulty-kv.js";

const Task = defineModel({
  name: "tasks",
  schema: z.object({
    id: z.int(),
    batch: z.int(),
    points: z.int().max(1000),
    code: z.string().nullable().default(null),
  }),
  primaryKey: "id",
  indexes: {
    byBatch: { key: "batch" },
    byPoints: { key: "points" },
    byCode: { key: "code", unique: true },
  },
});

async function filled(kv: Kv, count = 250) {
  const db = await createDatabase({ kv, models: { tasks: Task } });
  const data = Array.from({ length: count }, (_, id) => ({ id, batch: id % 2, points: id }));
  await db.tasks.createMany({ data });
  const all = async () => (await db.tasks.findMany({ orderBy: { id: "asc" } })).items;
  return { db, all };
}

it("a hundred rows are one commit, with their index entries", async () => {
  await using kv = await openKv();
  const { kv: counted, calls } = countingKv(kv);
  const { db, all } = await filled(counted);
  calls.commit = 0;
  const { count } = await db.tasks.updateMany({
    where: { batch: 1 },
    data: { points: { increment: 500 } },
  });
  expect([count, calls.commit]).toEqual([125, 2]);
  expect((await all()).map(({ points }) => points)).toEqual(
    Array.from({ length: 250 }, (_, id) => (id % 2 ? id + 500 : id)),
  );
  const high = await db.tasks.findMany({ where: { points: { gte: 500 } } });
  expect(high.items).toHaveLength(125);
});

it("a row that the schema refuses does not prevent the others", async () => {
  await using kv = await openKv();
  const { db, all } = await filled(kv, 100);
  await db.tasks.update({ where: { id: 5 }, data: { points: 999 } });
  const result = await db.tasks.updateMany({
    where: { batch: 1 },
    data: { points: { increment: 2 } },
  });
  expect(result.count).toBe(49);
  const refused = result.results.filter(({ ok }) => !ok);
  expect(refused).toMatchObject([{ id: 5, error: { code: "KW_ROW_INVALID" } }]);
  expect((await all()).map(({ points }) => points)).toEqual(
    Array.from({ length: 100 }, (_, id) => (id === 5 ? 999 : id % 2 ? id + 2 : id)),
  );
});

it("a row that others change before the commit is read again, and changed once", async () => {
  await using kv = await openKv();
  let isFirst = false;
  const raced = interferingKv(kv, async () => {
    if (!isFirst) return;
    isFirst = false;
    await other.tasks.update({ where: { id: 1 }, data: { points: 100 } });
    await other.tasks.update({ where: { id: 3 }, data: { batch: 7 } });
    await other.tasks.delete({ where: { id: 5 } });
  });
  const { db: other, all } = await filled(kv, 8);
  const db = await createDatabase({ kv: raced, models: { tasks: Task } });
  isFirst = true;
  const { count } = await db.tasks.updateMany({
    where: { batch: 1 },
    data: { points: { increment: 1 } },
  });
  expect(isFirst).toBe(false);
  expect(count).toBe(2);
  expect((await all()).map(({ id, points }) => [id, points])).toEqual([
    [0, 0],
    [1, 101],
    [2, 2],
    [3, 3],
    [4, 4],
    [6, 6],
    [7, 8],
  ]);
});

it("rows that expire keep their time, and the first row takes a unique key", async () => {
  await using kv = await openKv();
  const { db } = await filled(kv, 4);
  await db.tasks.create({ data: { id: 9, batch: 1, points: 9 }, expireIn: 1e9 });
  const expiryOf = async () => {
    const entry = await kv.get(["tasks", 9]);
    return entry.versionstamp === null ? Number.NaN : entry.expireAt!;
  };
  const before = await expiryOf();
  const expiring = await db.tasks.updateMany({ where: { batch: 1 }, data: { points: 50 } });
  expect(expiring.count).toBe(3);
  expect((await kv.get(["tasks", 9])).value).toMatchObject({ points: 50 });
  expect(Math.abs((await expiryOf()) - before)).toBeLessThan(5);

  const unique = await db.tasks.updateMany({ where: { batch: 0 }, data: { code: "one" } });
  expect(unique.count).toBe(1);
  const refused = unique.results.filter(({ ok }) => !ok);
  expect(refused).toMatchObject([{ error: { code: "KW_UNIQUE_CONSTRAINT" } }]);
});
