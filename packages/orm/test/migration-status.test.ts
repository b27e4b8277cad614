import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { migrationStatus } from "../src/change/migration-status.js";
import { createDatabase, defineModel, type MigrationProgress, migrate } from "../src/index.js";
import { leaseKey } from "../src/state/run/lease.js";
import { denoKv } from "./faulty-kv.js";
import { withRun } from "./migration-run.js";
import { LaterUser, User, users } from "./user-model.js";

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const Counted = defineModel({ ...LaterUser, count: true });

async function fill(names: readonly string[]): Promise<void> {
  const db = await createDatabase({ kv, models: { users: User } });
  const data = names.map((name, i) => ({ ...users.ada, name, email: `a${i}@example.com` }));
  await db.users.createMany({ data });
}

async function status(on: Kv = kv) {
  const db = await createDatabase({ kv: on, models: { users: Counted } });
  return await migrationStatus(db);
}

const idle = { progress: null, duplicates: 0, unindexed: null, declared: true };

it("tells what is to be done, what is being done and what is left", async () => {
  await fill([...Array(600).keys()].map((i) => `n${i}`).concat("n1", "n2"));
  await kv.set(["users", "by hand"], null);
  await kv.set(["users", "00 by hand"], null);
  expect(await status()).toEqual({
    runner: null,
    models: [
      {
        model: "users",
        indexes: {
          byEmail: { ...idle, state: "readable" },
          byFavoriteColor: { ...idle, state: "readable" },
          byAge: { ...idle, state: "absent" },
          byName: { ...idle, state: "absent" },
        },
        counters: {},
        transform: null,
      },
    ],
  });
  const db = await createDatabase({ kv, models: { users: Counted } });
  const stop = new AbortController();
  const onProgress = ({ phase, done }: MigrationProgress) => {
    if (phase === "building" && done === 500) stop.abort();
  };
  await migrate(db, { onProgress, signal: stop.signal });
  const progress = { phase: "building", done: 500, total: 604, perSecond: 0 };
  const building = { ...idle, state: "write-only", progress };
  expect((await status()).models[0]?.indexes).toMatchObject({
    byAge: { ...building, unindexed: { count: 1, rows: [{ id: "00 by hand" }] } },
    byName: { ...building, unindexed: { count: 1 } },
  });
  await migrate(db);
  expect((await status()).models[0]).toMatchObject({
    indexes: {
      byAge: { ...idle, state: "readable" },
      byName: { ...idle, state: "unique-pending", duplicates: 2 },
    },
    counters: { "": { state: "readable", progress: null } },
  });
});

it("tells who is at work, and whether they seem to be", async () => {
  await fill(["a"]);
  await withRun(kv, async ({ lease }) => {
    const { runner } = await status();
    expect(runner).toEqual({
      id: lease.runner,
      host: expect.any(String),
      since: expect.any(Date),
      alive: true,
    });
  });
  expect((await status()).runner).toBeNull();
  const now = new Date();
  const theirs = {
    format: 1,
    runner: "x",
    process: "y",
    host: "z",
    takenAt: now,
    timeToLive: 1000,
  };
  await kv.set(leaseKey, { ...theirs, expiresAt: new Date(Date.now() + 60_000) });
  expect((await status(denoKv(kv))).runner).toEqual({
    id: "x",
    host: "z",
    since: now,
    alive: true,
  });
  // Only this process has a database in memory open.
  expect((await status()).runner?.alive).toBe(false);
  await kv.set(leaseKey, { ...theirs, expiresAt: new Date(Date.now() - 60_000) });
  expect((await status(denoKv(kv))).runner?.alive).toBe(false);
});

it("tells of indexes that the program does not have, and of a change of all rows", async () => {
  const later = await createDatabase({ kv, models: { users: LaterUser } });
  await later.users.create({ data: users.bob });
  const key = ["__keywright", "catalog", "users"];
  const { value } = await kv.get<object>(key);
  const transform = { id: "t", from: "before" };
  await kv.set(key, { ...value, transform });
  await kv.set(["__keywright", "transforming", "users"], {
    id: "t",
    after: null,
    rowsDone: 3,
    rowsTotal: 9,
    failed: 2,
  });
  for (const id of ["a", "b"]) {
    await kv.set(["users", id], { id });
    await kv.set(["__keywright", "failed", "users", id], { primaryKey: [id], reason: "x" });
  }
  await kv.set(["__keywright", "transform", "users", "t"], { format: 1 });
  const db = await createDatabase({ kv, models: { users: User } });
  const found = await migrationStatus(db);
  expect(found.models[0]).toMatchObject({
    indexes: { byAge: { ...idle, state: "readable", declared: false } },
    transform: {
      ...transform,
      progress: { phase: "transforming", done: 3, total: 9, perSecond: 0 },
      failed: 2,
    },
  });
});
