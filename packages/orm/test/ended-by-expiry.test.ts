import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod";
import {
  createDatabase,
  defineMigration,
  defineModel,
  IndexNotReadyError,
  migrate,
  migrationStatus,
} from "../src/index.js";
import { findDuplicates } from "../src/migrate.js";
import { denoKv } from "./faulty-kv.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const schema = z.object({ id: z.string(), email: z.string() });
const Plain = defineModel({ name: "sessions", schema, primaryKey: "id" });
const Session = defineModel({
  ...Plain,
  indexes: { byEmail: { key: "email", unique: true } },
});

let kv: EmbeddedKv;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  kv = await openKv();
});
afterEach(async () => {
  await kv.close();
  vi.useRealTimers();
});

const email = "ada@example.com";
const where = { email };

const hour = 3_600_000;
const pastExpiry = () => vi.setSystemTime(Date.now() + hour);

/**
 * A database with a pending index: session "a" has the value, and "b" is recorded as a duplicate.
 */
async function pending(expiring: "a" | "b", on: Kv = kv) {
  const before = await createDatabase({ kv: on, models: { sessions: Plain } });
  for (const id of ["a", "b"]) {
    const data = { id, email };
    await before.sessions.create(id === expiring ? { data, expireIn: hour } : { data });
  }
  const db = await createDatabase({ kv: on, models: { sessions: Session } });
  expect((await migrate(db)).status).toBe("duplicates");
  await expect(db.sessions.findUnique({ where })).rejects.toThrow(IndexNotReadyError);
  expect((await statusOf(db)).indexes.byEmail).toMatchObject({ duplicates: 1 });
  pastExpiry();
  return db;
}

async function statusOf(db: Parameters<typeof migrationStatus>[0]) {
  const [status] = (await migrationStatus(db)).models;
  if (status === undefined) throw new Error("there is no model");
  return status;
}

it.each(["a", "b"] as const)(
  "an index is readable as soon as its last duplicate has ended by expiry, that of %s",
  async (expiring) => {
    const db = await pending(expiring);
    expect((await statusOf(db)).indexes.byEmail).toMatchObject({ duplicates: 0 });
    expect((await findDuplicates(db, { model: "sessions", index: "byEmail" })).items).toEqual([]);
    const left = expiring === "a" ? "b" : "a";
    expect(await db.sessions.findUnique({ where })).toEqual({ id: left, email });
    expect((await statusOf(db)).indexes.byEmail).toMatchObject({ state: "readable" });
    await expectIndexesToMatch(kv, Session);
  },
);

it("an index is readable in a transaction and on a database that does not return expiry", async () => {
  const db = await pending("b", denoKv(kv));
  const found = await db.transaction((tx) => tx.sessions.findUnique({ where }));
  expect(found).toEqual({ id: "a", email });
});

it("a duplicate that is left keeps the index pending", async () => {
  const before = await createDatabase({ kv, models: { sessions: Plain } });
  for (const id of ["a", "b", "c"]) {
    const data = { id, email };
    await before.sessions.create(id === "b" ? { data, expireIn: hour } : { data });
  }
  const db = await createDatabase({ kv, models: { sessions: Session } });
  await migrate(db);
  pastExpiry();
  expect((await statusOf(db)).indexes.byEmail).toMatchObject({ duplicates: 1 });
  await expect(db.sessions.findUnique({ where })).rejects.toThrow(IndexNotReadyError);
});

it("a failed row that ends by expiry no longer counts as failed", async () => {
  const old = await createDatabase({ kv, models: { sessions: Plain } });
  await old.sessions.create({ data: { id: "a", email: "" }, expireIn: hour });
  const to = z.object({ id: z.string(), email: z.string().min(1) });
  const model = defineModel({ ...Plain, schema: to });
  const migrations = [defineMigration({ model, from: schema, to, up: (row) => row })];
  const db = await createDatabase({ kv, models: { sessions: model }, migrations });
  expect((await migrate(db)).status).toBe("failed-rows");
  expect((await statusOf(db)).transform?.failed).toBe(1);
  pastExpiry();
  expect((await statusOf(db)).transform?.failed).toBe(0);
  expect((await migrate(db)).status).toBe("done");
});
