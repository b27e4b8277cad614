import { setImmediate } from "node:timers";
import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel } from "../src/index.js";

const rowCount = 2000;

/** Counts the turns that other work of the process gets during a call. */
async function turnsDuring(call: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let next: NodeJS.Immediate | undefined;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  next = setImmediate(count);
  await call();
  clearImmediate(next);
  return turns;
}

it("other work gets its turn while many rows are written in one commit", async () => {
  await using kv = await openKv();
  const Item = defineModel({
    name: "items",
    schema: z.object({ id: z.string(), group: z.string(), text: z.string() }),
    primaryKey: "id",
    indexes: { byGroup: { key: "group" } },
  });
  const { items } = await createDatabase({ kv, models: { items: Item } });
  const data = Array.from({ length: rowCount }, (_, n) => ({ id: `${n}`, group: "a", text: "x" }));
  const where = { group: "a" };
  for (const call of [
    () => items.createMany({ data, atomic: true }),
    () => items.updateMany({ where, data: { text: "y" }, atomic: true }),
    () => items.deleteMany({ where, atomic: true }),
  ])
    expect(await turnsDuring(call)).toBeGreaterThanOrEqual(rowCount / 100);
});

it("other work gets its turn while many rows are read", async () => {
  await using kv = await openKv();
  const Item = defineModel({
    name: "items",
    schema: z.object({ id: z.int(), group: z.string() }),
    primaryKey: "id",
    indexes: { byGroup: { key: "group" } },
  });
  const { items } = await createDatabase({ kv, models: { items: Item } });
  const size = 20_000;
  await items.createMany({
    data: Array.from({ length: size }, (_, id) => ({ id, group: "a" })),
  });
  const where = { group: "a" };
  const filter = () => false;
  for (const call of [
    async () => expect((await items.findMany({ where })).items.length).toBe(size),
    async () => expect((await items.findMany({ where, filter, take: 10 })).items).toEqual([]),
    async () => expect(await items.findFirst({ where, filter })).toBeNull(),
    async () => expect(await items.count({ where, filter })).toBe(0),
    async () => expect((await items.scan({ filter, take: 10 })).items).toEqual([]),
  ])
    expect(await turnsDuring(call)).toBeGreaterThanOrEqual(3);
});

it("a list sees one state, although others write while it is read", async () => {
  await using kv = await openKv();
  const Item = defineModel({
    name: "items",
    schema: z.object({ id: z.int(), group: z.string(), batch: z.int() }),
    primaryKey: "id",
    indexes: { byGroup: { key: "group" } },
  });
  const db = await createDatabase({ kv, models: { items: Item } });
  const { items } = db;
  const size = 12_000;
  await items.createMany({
    data: Array.from({ length: size }, (_, id) => ({ id, group: "a", batch: 0 })),
  });
  const where = { group: "a" };
  const listed = items.findMany({ where });
  const ends = [{ id: 0 }, { id: size - 1 }];
  const change = db.transaction(async (tx) => {
    for (const at of ends) await tx.items.update({ where: at, data: { batch: 1 } });
  });
  const { items: found } = await listed;
  await change;
  expect(found.length).toBe(size);
  expect(found[0]!.batch).toBe(found.at(-1)!.batch);
});

it("a list of many rows is read once, although others write at each turn", async () => {
  await using kv = await openKv();
  const Item = defineModel({
    name: "items",
    schema: z.object({ id: z.int(), group: z.string() }),
    primaryKey: "id",
    indexes: { byGroup: { key: "group" } },
  });
  const { items } = await createDatabase({ kv, models: { items: Item } });
  const size = 12_000;
  await items.createMany({
    data: Array.from({ length: size }, (_, id) => ({ id, group: "a" })),
  });
  let isRead = false;
  const writing = (async () => {
    for (let n = 0; !isRead; n++) {
      await kv.set(["other"], n);
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  let seen = 0;
  const filter = () => {
    seen++;
    return true;
  };
  for (const call of [
    () => items.findMany({ where: { group: "a" }, filter }),
    () => items.scan({ filter, take: size }),
    () => items.count({ where: { group: "a" }, filter }),
  ]) {
    seen = 0;
    await call();
    expect(seen).toBe(size);
  }
  isRead = true;
  await writing;
});
