import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, defineModel, hasMany } from "../src/index.js";
import { rejection } from "./user-model.js";

const Card = defineModel({
  name: "cards",
  schema: z.object({ id: z.string(), number: z.string(), owner: z.string() }),
  primaryKey: "id",
  indexes: {
    byNumber: { key: "number", unique: true },
    byOwner: { key: "owner", include: ["number"] },
  },
  relations: { holder: belongsTo("holders", "owner") },
  computed: { label: (row) => `card ${row.number}` },
});
const Holder = defineModel({
  name: "holders",
  schema: z.object({ id: z.string() }),
  primaryKey: "id",
  relations: { cards: hasMany("cards", "owner") },
});
const models = { cards: Card, holders: Holder };

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const stored = { id: "a", number: "12345678", owner: "ada" };
const masked = { ...stored, number: "…5678", label: "card …5678" };

async function open(seen: unknown[] = []) {
  const db = await createDatabase({
    kv,
    models,
    hooks: {
      cards: {
        afterRead: async (row) => {
          seen.push(Object.keys(row));
          row.number = `…${row.number.slice(-4)}`;
        },
      },
    },
  });
  await db.holders.create({ data: { id: "ada" } });
  return db;
}

it("change each row that a call returns, before computed fields and select, and nothing that is stored", async () => {
  const seen: unknown[] = [];
  const db = await open(seen);
  const where = { id: "a" };
  expect(await db.cards.create({ data: stored })).toEqual(masked);
  expect((await kv.get(["cards", "a"])).value).toEqual(stored);
  expect(await db.cards.findUnique({ where })).toEqual(masked);
  expect((await db.cards.scan()).items).toEqual([masked]);
  for await (const row of db.cards.scan()) expect(row).toEqual(masked);
  const included = await db.holders.findFirst({ where: { id: "ada" }, include: { cards: true } });
  expect(included?.cards).toEqual([masked]);
  for await (const rows of db.cards.watchMany({ where: { owner: "ada" } })) {
    expect(rows).toEqual([masked]);
    break;
  }
  await db.transaction(async (tx) => {
    expect(await tx.cards.findUnique({ where })).toEqual(masked);
    expect(await tx.cards.update({ where, data: { owner: "ada" } })).toEqual(masked);
  });
  expect((await kv.get(["cards", "a"])).value).toEqual(stored);
  // The hook gets the whole row, even if an index entry has the selected fields.
  seen.length = 0;
  const select = { label: true } as const;
  const { items } = await db.cards.findMany({ where: { owner: "ada" }, select });
  expect([items, seen]).toEqual([[{ label: masked.label }], [["id", "number", "owner"]]]);
});

it("do not change what where and filter see", async () => {
  const db = await open();
  await db.cards.create({ data: stored });
  expect(await db.cards.findUnique({ where: { number: stored.number } })).toEqual(masked);
  const filter = ({ number }: { number: string }) => number === stored.number;
  expect((await db.cards.scan({ filter })).items).toEqual([masked]);
});

it("return other values, or throw the error of the call", async () => {
  let error: Error | undefined;
  const db = await createDatabase({
    kv,
    models,
    hooks: {
      cards: {
        afterRead: (row) => {
          if (error !== undefined) throw error;
          return { ...row, number: "none" };
        },
        // @ts-expect-error a row is an object of the schema's fields
        beforeRead: () => 1,
      },
    },
  });
  await db.holders.create({ data: { id: "ada" } });
  expect((await db.cards.create({ data: stored })).label).toBe("card none");
  error = new Error("no key");
  expect(await rejection(db.cards.findUnique({ where: { id: "a" } }))).toBe(error);
});
