import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { adopt } from "../src/change/adopt/adopt.js";
import { pentagonLayout } from "../src/change/adopt/source/pentagon-layout.js";
import { createDatabase, defineModel } from "../src/index.js";
import { readOnlyKv } from "./read-only-kv.js";

let old: EmbeddedKv;
let kv: EmbeddedKv;

beforeEach(async () => {
  old = await openKv();
  kv = await openKv();
});

afterEach(async () => {
  await old.close();
  await kv.close();
});

const Customer = defineModel({
  name: "customers",
  schema: z.strictObject({
    id: z.uuid(),
    createdAt: z.date(),
    email: z.string(),
    visits: z.number(),
  }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true }, byVisits: { key: "visits" } },
});

const open = () => createDatabase({ kv, models: { customers: Customer } });
const indexes = { email: "unique", visits: "index" } as const;
const createdAt = new Date(0);
const ada = { id: "67218087-d9a8-4a57-b058-adc01f179ff9", createdAt, email: "ada@b.cd", visits: 3 };
const bob = { id: "73a85d83-7325-46f0-a421-1bfac4cec68a", createdAt, email: "bob@b.cd", visits: 0 };

it("a table of pentagon becomes a model, and the source is only read", async () => {
  await old
    .atomic()
    .set(["users", ada.id], ada)
    .set(["users_by_unique_email", ada.email], ada)
    .set(["users_by_visits", 3, ada.id], ada)
    // Pentagon writes no entry for a zero.
    .set(["users", bob.id], bob)
    .set(["users_by_unique_email", bob.email], bob)
    .commit();
  const db = await open();
  const layout = pentagonLayout({ table: "users", indexes });
  const result = await adopt(db, { from: readOnlyKv(old), models: { customers: layout } });
  expect(result).toMatchObject({
    status: "done",
    models: [{ rows: 2, adopted: 2, brokenCount: 0 }],
  });
  expect(await db.customers.findUnique({ where: { email: "bob@b.cd" } })).toEqual(bob);
  expect((await db.customers.findMany({ where: { visits: 3 } })).items).toEqual([ada]);
});

it.each([[0], [false], [""]])("an entry of the value %j may be there or not", async (value) => {
  const Flag = defineModel({
    name: "flags",
    schema: z.object({ id: z.string(), value: z.union([z.number(), z.boolean(), z.string()]) }),
    primaryKey: "id",
  });
  for (const id of ["a", "b"]) await old.set(["users", id], { id, value });
  await old.set(["users_by_value", value, "a"], { id: "a", value });
  const db = await createDatabase({ kv, models: { flags: Flag } });
  const layout = pentagonLayout({ table: "users", indexes: { value: "index" } });
  const { models } = await adopt(db, { from: readOnlyKv(old), models: { flags: layout } });
  expect(models[0]).toMatchObject({ adopted: 2, brokenEntries: [] });
});

it("its early releases have other keys and the versionstamp in the row", async () => {
  const stored = { ...ada, versionstamp: "00000000000000010000" };
  await old
    .atomic()
    .set(["users", ada.id], stored)
    .set(["users_by_email", ada.email], stored)
    .set(["users_by_visits", 3], stored)
    .commit();
  const db = await open();
  const layout = pentagonLayout({ table: "users", indexes, early: true });
  const { models } = await adopt(db, { from: old, models: { customers: layout } });
  expect(models[0]).toMatchObject({ adopted: 1, failedCount: 0, brokenCount: 0 });
  expect((await db.customers.scan()).items).toEqual([ada]);
});

it("entries that are missing, lead nowhere, or hold what a row was, are reported", async () => {
  const staleKey = ["users_by_visits", 2, ada.id];
  const copyKey = ["users_by_unique_email", ada.email];
  const goneKey = ["users_by_unique_email", "gone@b.cd"];
  await old
    .atomic()
    .set(["users", ada.id], ada)
    .set(copyKey, { ...ada, visits: 2 })
    .set(staleKey, { ...ada, visits: 2 })
    .set(goneKey, bob)
    .commit();
  const layout = pentagonLayout({ table: "users", indexes });
  const { models } = await adopt(await open(), { from: old, models: { customers: layout } });
  expect(models[0]?.brokenEntries).toEqual([
    { kind: "mismatched", key: copyKey, id: ada.id },
    { kind: "missing", key: ["users_by_visits", 3, ada.id], id: ada.id },
    { kind: "dangling", key: goneKey, id: bob.id },
    { kind: "mismatched", key: staleKey, id: ada.id },
  ]);
});

it("a primary key of another name is the row's id", async () => {
  const Code = defineModel({
    name: "codes",
    schema: z.object({ code: z.string(), word: z.string() }),
    primaryKey: "code",
  });
  const row = { code: "x", word: "w" };
  await old.set(["codes_old", "x"], row);
  await old.set(["codes_old_by_unique_word", "w"], row);
  const db = await createDatabase({ kv, models: { codes: Code } });
  const layout = pentagonLayout({
    table: "codes_old",
    primaryKey: "code",
    indexes: { word: "unique" },
  });
  const { models } = await adopt(db, { from: old, models: { codes: layout } });
  expect(models[0]).toMatchObject({ adopted: 1, brokenCount: 0 });
});
