import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { adopt, guideLayout } from "../../src/adopt.js";
import {
  createDatabase,
  defineModel,
  migrate,
  migrationStatus,
  resumeDeletes,
  SystemEntryError,
} from "../../src/index.js";
import { planMigration, verifyIndexes } from "../../src/migrate.js";
import { deep, hostile, isTyped, withEachHostileEntry } from "../hostile-values.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), email: z.string(), team: z.string() }),
  primaryKey: "id",
  count: true,
  indexes: { byEmail: { key: "email", unique: true }, byTeam: { key: "team", count: true } },
});
const Later = defineModel({
  ...User,
  indexes: { ...User.indexes, byTeamAndEmail: { key: ["team", "email"] } },
});

const systemKeys = ["catalog", "backfill", "counting", "transforming", "verifying", "adopting"].map(
  (name) => ["__keywright", name, "users"],
);

async function callAll(kv: Kv): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (const model of [User, Later]) {
    const db = await createDatabase({ kv, models: { users: model } }).catch((error: unknown) => {
      errors.push(error);
    });
    if (db === undefined) continue;
    for (const call of [
      () => db.users.create({ data: { id: "b", email: "b", team: "red" } }),
      () => db.users.findMany({ where: { team: "red" } }),
      () => db.users.count(),
      () => db.users.update({ where: { id: "a" }, data: { team: "green" } }),
      () => db.users.delete({ where: { id: "a" } }),
      () => planMigration(db),
      () => migrationStatus(db),
      () => verifyIndexes(db),
      () => migrate(db),
    ]) {
      await (call as () => Promise<unknown>)().catch((error: unknown) => errors.push(error));
    }
  }
  return errors;
}

async function withRows(test: (kv: Kv) => Promise<void>): Promise<void> {
  const kv = await openKv();
  try {
    const db = await createDatabase({ kv, models: { users: User } });
    await db.users.create({ data: { id: "a", email: "a", team: "red" } });
    await test(kv);
  } finally {
    await kv.close();
  }
}

it("a null catalog entry is reported with its key", () =>
  withRows(async (kv) => {
    await kv.set(["__keywright", "catalog", "users"], null);
    const opening = createDatabase({ kv, models: { users: User } });
    await expect(opening).rejects.toThrow(SystemEntryError);
    await expect(opening).rejects.toMatchObject({
      code: "KW_SYSTEM_ENTRY_INVALID",
      key: ["__keywright", "catalog", "users"],
    });
    await expect(opening).rejects.toThrow(
      'users: the internal entry ["__keywright", "catalog", "users"] is not valid',
    );
  }));

const others = [
  ["__keywright", "lease"],
  ["__keywright", "count", "users"],
  ["__keywright", "count", "users_by_team", "red"],
  ["__keywright", "unreported", "users", "01"],
  ["__keywright", "duplicates", "users", "byEmail", "a", "b"],
  ["__keywright", "catalog", "removed"],
  ["__keywright", "cascade", "users", "a"],
];

it.each([...systemKeys, ...others])(
  "no value of %j, %j, %j makes a call loop, or throw an untyped error",
  async (...key) => {
    for (const value of hostile) {
      await withRows(async (kv) => {
        await kv.set(key, value);
        for (const error of await callAll(kv)) {
          if (!isTyped(error)) throw error;
        }
      });
    }
  },
);

it("no stored description of rows makes a call throw an untyped error", async () => {
  for (const value of hostile) {
    await withRows(async (kv) => {
      for await (const { key } of kv.list({ prefix: ["__keywright", "schema", "users"] }))
        await kv.set(key, value);
      for (const error of await callAll(kv)) expect(isTyped(error)).toBe(true);
    });
  }
});

const guide = guideLayout(User);

it.each(["adopting", "adopted"])(
  "no entry of an adoption (%s) makes the next one throw an untyped error",
  async (name) => {
    await using old = await openKv();
    for (const id of ["a", "b"]) await old.set(["users", id], { id, email: id, team: "red" });
    await old.set(["users", "c"], { id: "c", team: "red" });
    const run = async (kv: EmbeddedKv) => {
      const db = await createDatabase({ kv, models: { users: User } });
      return await adopt(db, { from: old, models: { users: guide } });
    };
    const prepare = async () => {
      const kv = await openKv();
      await run(kv);
      // Without its progress, the next adoption reads the mark of each row.
      if (name === "adopted") await kv.delete(["__keywright", "adopting", "users"]);
      return kv;
    };
    const refused = await withEachHostileEntry(["__keywright", name], prepare, run);
    expect(refused).toBeGreaterThan(hostile.length);
  },
);

it.each(["counted-until", "counted-row"])(
  "no record of counted rows that expire (%s) makes a call throw an untyped error",
  async (name) => {
    const prepare = async () => {
      const kv = await openKv();
      const db = await createDatabase({ kv, models: { users: User } });
      const data = { id: "a", email: "a", team: "red" };
      await db.users.create({ data, expireIn: 1 });
      await db.users.create({ data: { id: "b", email: "b", team: "red" }, expireIn: 60_000 });
      await new Promise((resolve) => setTimeout(resolve, 3));
      return kv;
    };
    const refused = await withEachHostileEntry(["__keywright", name], prepare, async (kv) => {
      const db = await createDatabase({ kv, models: { users: User } });
      const errors: unknown[] = [];
      for (const call of [
        () => db.users.count(),
        () => db.users.count({ where: { team: "red" } }),
        () => db.users.update({ where: { id: "b" }, data: { team: "green" } }),
        () => db.users.create({ data: { id: "a", email: "a", team: "red" } }),
        () => db.users.delete({ where: { id: "b" } }),
        () => verifyIndexes(db, { repair: true }),
      ]) {
        await (call as () => Promise<unknown>)().catch((error: unknown) => errors.push(error));
      }
      for (const error of errors) if (!isTyped(error)) throw error;
      if (errors.length > 0) throw errors[0];
    });
    expect(refused).toBeGreaterThan(0);
  },
);

it("no job of a deletion makes resumeDeletes throw, or fail without a code", async () => {
  await withRows(async (kv) => {
    const db = await createDatabase({ kv, models: { users: User } });
    for (const key of [[], ["users"], ["users", 1], ["users", "a", "b"], [1n, "a"], ["none", "a"]])
      for (const value of [true, null, deep]) {
        await kv.set(["__keywright", "cascade", ...key], value);
        const { failed } = await resumeDeletes(db);
        for (const { error } of failed) expect(isTyped(error)).toBe(true);
      }
    expect(await db.users.findUnique({ where: { id: "a" } })).not.toBeNull();
  });
});
