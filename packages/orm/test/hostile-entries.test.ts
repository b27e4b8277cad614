import { KeywrightError, type Kv, NotU64Error, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import {
  createDatabase,
  defineModel,
  migrate,
  migrationStatus,
  planMigration,
  SystemEntryError,
  verifyIndexes,
} from "../src/index.js";

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

const deep = Array.from({ length: 500 }).reduce<object>((inner) => ({ inner }), {});

const hostile: readonly unknown[] = [
  null,
  undefined,
  true,
  "text",
  Number.MAX_VALUE,
  Number.NaN,
  10n ** 100n,
  [],
  [null],
  {},
  new Map(),
  new Uint8Array(8),
  deep,
  { format: 1 },
  { format: 1, indexes: null },
  { format: 1, indexes: { byEmail: null } },
  { format: 1, indexes: { byEmail: { state: "readable", prefix: 1, fields: 7 } } },
  { format: 1, indexes: {}, schema: { hash: 1, accepts: null } },
  { format: 1, indexes: {}, transform: { id: 1 } },
  { format: 1, id: 1, after: 7, rowsDone: Number.MAX_VALUE },
];

const systemKeys = ["catalog", "backfill", "counting", "transforming", "verifying", "adopting"].map(
  (name) => ["__keywright", name, "users"],
);

function isTyped(error: unknown): boolean {
  return error instanceof KeywrightError || error instanceof NotU64Error;
}

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
