import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, type Database, type DatabaseOptions, defineModel } from "../src/index.js";
import { interferingKv } from "./faulty-kv.js";
import { entriesOf, rejection, User, users } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const where = { email: "ada@example.com" };
const open = (on = kv as Parameters<typeof interferingKv>[0]) =>
  createDatabase({ kv: on, models: { users: User } });

/** Runs a function the first time that it is called. */
function once(run: () => Promise<unknown>): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    isDone = true;
    await run();
  };
}

it("creates the row where there is none, and changes it where there is", async () => {
  const db = await open();
  const created = await db.users.upsert({ where, create: users.ada, update: { age: 1 } });
  expect(created).toEqual({ id: created.id, ...users.ada });
  const changed = await db.users.upsert({ where, create: users.ada, update: { age: 1 } });
  expect(changed).toEqual({ ...created, age: 1 });
  await expectIndexesToMatch(kv, User);
});

it("is refused without create or update, also if the row decides that the other one is used", async () => {
  const db = await open();
  await db.users.create({ data: users.ada });
  const refusal = { code: "KW_ARGUMENT_INVALID" };
  expect(await rejection(db.users.upsert({ where, update: { age: 1 } } as never))).toMatchObject({
    ...refusal,
    argument: "create",
  });
  const absent = { where: { email: "bob@example.com" }, create: users.ada } as never;
  expect(await rejection(db.users.upsert(absent))).toMatchObject({
    ...refusal,
    argument: "update",
  });
});

it("changes the row that another creates at the same time", async () => {
  const db = await open();
  const early = once(() => db.users.create({ data: users.ada }));
  const racing = await open(interferingKv(kv, early));
  const row = await racing.users.upsert({ where, create: users.ada, update: { age: 1 } });
  expect(row).toMatchObject({ name: "Ada", age: 1 });
  expect(await entriesOf(kv)).toHaveLength(3);
});

it("creates the row that another deletes at the same time", async () => {
  const db = await open();
  const ada = await db.users.create({ data: users.ada });
  const gone = once(() => db.users.delete({ where }));
  const racing = await open(interferingKv(kv, gone));
  const row = await racing.users.upsert({
    where,
    create: { ...users.ada, name: "New" },
    update: { age: 1 },
  });
  expect(row.name).toBe("New");
  expect(row.id).not.toBe(ada.id);
  await expectIndexesToMatch(kv, User);
});

it("creates the row where the one in its way goes before the next look", async () => {
  const db = await open();
  const appear = once(() => db.users.create({ data: users.ada }));
  let looks = 0;
  // It is there at the commit, and gone when the row is looked for again.
  const racing = interferingKv(kv, appear, async ([table]) => {
    if (table === "users_by_email" && ++looks === 3) await db.users.delete({ where });
  });
  const row = await (await open(racing)).users.upsert({
    where,
    create: { ...users.ada, name: "New" },
    update: { age: 1 },
  });
  expect(looks).toBeGreaterThan(2);
  expect(row).toMatchObject({ name: "New" });
  expect(row).not.toHaveProperty("age");
});

it("makes one row of many calls at once, and loses no change", async () => {
  const db = await open();
  const calls = Array.from({ length: 20 }, () =>
    db.users.upsert({ where, create: { ...users.ada, age: 1 }, update: { age: { increment: 1 } } }),
  );
  const rows = await Promise.all(calls);
  expect(new Set(rows.map((row) => row.id)).size).toBe(1);
  expect(await db.users.findUnique({ where })).toMatchObject({ age: 20 });
});

it("refuses a row whose other unique value is taken, and changes nothing", async () => {
  const db = await open();
  const bob = await db.users.create({ data: users.bob });
  const before = await entriesOf(kv);
  const id = "01H76YTWK3YBV020S6MP69TBEQ";
  const error = await rejection(
    db.users.upsert({ where: { id }, create: { ...users.bob, id }, update: {} }),
  );
  expect(error).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", index: "byEmail", ownerId: bob.id });
  expect(await entriesOf(kv)).toEqual(before);
});

it("creates what `where` would not find, and says so at the second time", async () => {
  const db = await open();
  const call = () => db.users.upsert({ where, create: users.bob, update: {} });
  expect(await call()).toMatchObject({ name: "Bob" });
  expect(await rejection(call())).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", index: "byEmail" });
});

it("changes only the version that it is told to, and creates the row whatever it is told", async () => {
  const db = await open();
  const ifVersion = "00000000000000000000";
  const call = () => db.users.upsert({ where, create: users.ada, update: { age: 1 }, ifVersion });
  await call();
  expect(await rejection(call())).toMatchObject({ code: "KW_VERSION_CONFLICT", attempts: 1 });
});

it("works within a transaction, on what that has written", async () => {
  const db = await open();
  await db.transaction(async (tx) => {
    const call = () =>
      tx.users.upsert({
        where,
        create: { ...users.ada, age: 1 },
        update: { age: { increment: 1 } },
      });
    await Promise.all([call(), call(), call()]);
  });
  expect(await db.users.findUnique({ where })).toMatchObject({ age: 3 });
  await expectIndexesToMatch(kv, User);
});

describe("an error of a hook", () => {
  const Job = defineModel({
    name: "jobs",
    schema: z.object({ id: z.string(), runs: z.int().default(0) }),
    primaryKey: "id",
  });
  const models = { jobs: Job, users: User };
  type Hooks = NonNullable<NonNullable<DatabaseOptions<typeof models>["hooks"]>["jobs"]>;
  const id = "a";
  const call = { where: { id }, create: { id }, update: { runs: { increment: 1 } } } as const;

  /**
   * A database whose hook makes a call on another model that fails, and the rows and calls there
   * have been after an upsert.
   */
  async function upsertWith(hook: keyof Hooks, fail: (users: UsersTable) => Promise<unknown>) {
    let calls = 0;
    const db: Database<typeof models> = await createDatabase({
      kv,
      models,
      hooks: {
        jobs: {
          [hook]: async () => {
            calls++;
            await fail(db.users);
          },
        },
      },
    });
    await db.users.create({ data: users.ada });
    if (hook.endsWith("Update")) {
      const plain = await createDatabase({ kv, models });
      await plain.jobs.create({ data: { id } });
    }
    const error = await rejection(db.jobs.upsert(call));
    return { error, calls, row: await db.jobs.findUnique({ where: { id } }) };
  }
  type UsersTable = Database<typeof models>["users"];
  const notFound = (table: UsersTable) =>
    table.findUniqueOrThrow({ where: { email: "none@example.com" } });
  const gone = (table: UsersTable) =>
    table.update({ where: { email: "none@example.com" }, data: {} });
  const taken = (table: UsersTable) => table.create({ data: users.ada });

  it.each([
    ["a missing row", "beforeUpdate", notFound, "KW_ROW_NOT_FOUND", { id, runs: 0 }],
    ["a row to change", "beforeUpdate", gone, "KW_ROW_NOT_FOUND", { id, runs: 0 }],
    ["a missing row", "afterUpdate", notFound, "KW_ROW_NOT_FOUND", { id, runs: 1 }],
    ["a taken value", "afterUpdate", taken, "KW_UNIQUE_CONSTRAINT", { id, runs: 1 }],
    ["a missing row", "beforeCreate", notFound, "KW_ROW_NOT_FOUND", null],
    ["a taken value", "beforeCreate", taken, "KW_UNIQUE_CONSTRAINT", null],
    ["a missing row", "afterCreate", notFound, "KW_ROW_NOT_FOUND", { id, runs: 0 }],
    ["a taken value", "afterCreate", taken, "KW_UNIQUE_CONSTRAINT", { id, runs: 0 }],
  ] as const)(
    "about %s, in %s, reaches the caller and has nothing written again",
    async (_, hook, fail, code, stored) => {
      const { error, calls, row } = await upsertWith(hook, fail);
      expect(error).toMatchObject({ code, model: "users" });
      expect(calls).toBe(1);
      expect(row).toEqual(stored);
    },
  );
});

describe("a row that comes and goes", () => {
  const id = "01H76YTWK3YBV020S6MP69TBEQ";

  it("is created or changed in the end, where each commit finds it otherwise than the look before", async () => {
    const db = await open();
    let left = 6;
    const racing = interferingKv(kv, async () => {
      if (left-- <= 0) return;
      const isThere = await db.users.exists({ where: { id } });
      if (isThere) await db.users.delete({ where: { id } });
      else await db.users.create({ data: { id, ...users.ada } });
    });
    const row = await (await open(racing)).users.upsert({
      where: { id },
      create: { id, ...users.bob },
      update: { age: 1 },
    });
    expect(left).toBe(-1);
    expect(row).toEqual({ id, ...users.bob });
    await expectIndexesToMatch(kv, User);
  });

  it.each([
    ["primary key", { id }, "users", 3],
    ["unique index", where, "users_by_email", 2],
  ] as const)(
    "is created where it is never seen, by its %s",
    async (_, unique, table, looksOfAttempt) => {
      const db = await open();
      let commits = 0;
      let looks = 0;
      // The same row is there at each of three commits, and gone whenever it is looked for.
      const racing = interferingKv(
        kv,
        async () => {
          if (++commits <= 3) await db.users.create({ data: { ...users.ada, id } });
        },
        async ([first]) => {
          if (first !== table || looks++ % looksOfAttempt !== 0 || looks === 1) return;
          await db.users.delete({ where: { id } });
        },
      );
      const create = { ...users.ada, name: "New", ...("id" in unique && { id }) };
      const row = await (await open(racing)).users.upsert({
        where: unique,
        create,
        update: { age: 1 },
      });
      expect(commits).toBe(4);
      expect(row).toMatchObject({ name: "New" });
      await expectIndexesToMatch(kv, User);
    },
  );
});

it("says at once that the primary key is that of a row which `where` does not name", async () => {
  const db = await open();
  const bob = await db.users.create({ data: users.bob });
  let commits = 0;
  const counting = interferingKv(kv, async () => {
    commits++;
  });
  const call = (await open(counting)).users.upsert({
    where,
    create: { ...users.ada, id: bob.id },
    update: {},
  });
  const conflict = { code: "KW_UNIQUE_CONSTRAINT", index: "primaryKey", ownerId: bob.id };
  expect(await rejection(call)).toMatchObject(conflict);
  expect(commits).toBe(2);
});

it("writes what it was given when it was called", async () => {
  const Post = defineModel({
    name: "posts",
    schema: z.object({ id: z.string(), tags: z.array(z.string()) }),
    primaryKey: "id",
  });
  const db = await createDatabase({ kv, models: { posts: Post } });
  const data = { id: "a", tags: ["first"] };
  const update = { tags: ["second"] };
  const upsert = () => db.posts.upsert({ where: { id: "a" }, create: data, update });
  const created = upsert();
  data.id = "b";
  data.tags.push("late");
  expect(await created).toEqual({ id: "a", tags: ["first"] });
  const changed = upsert();
  update.tags.push("late");
  expect(await changed).toEqual({ id: "a", tags: ["second"] });
});
