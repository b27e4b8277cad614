import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDatabase, type DatabaseOptions } from "../src/index.js";
import { interferingKv } from "./faulty-kv.js";
import { entriesOf, rejection, User, users } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

type Hooks = NonNullable<NonNullable<DatabaseOptions<{ users: typeof User }>["hooks"]>["users"]>;

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const open = (hooks: Hooks, on = kv as Parameters<typeof interferingKv>[0]) =>
  createDatabase({ kv: on, models: { users: User }, hooks: { users: hooks } });

it("calls the hooks around each write, in order, with what it is about", async () => {
  const calls: unknown[][] = [];
  const log =
    (name: string) =>
    (...args: unknown[]) => {
      calls.push([name, ...args]);
    };
  const db = await open({
    beforeCreate: log("beforeCreate"),
    afterCreate: log("afterCreate"),
    beforeUpdate: log("beforeUpdate"),
    afterUpdate: log("afterUpdate"),
    beforeDelete: log("beforeDelete"),
    afterDelete: log("afterDelete"),
  });
  const ada = await db.users.create({ data: users.ada });
  const where = { id: ada.id };
  const older = await db.users.update({ where, data: { age: 1 } });
  await db.users.upsert({ where, create: users.ada, update: { age: 2 } });
  await db.users.delete({ where });
  expect(calls).toEqual([
    ["beforeCreate", users.ada],
    ["afterCreate", ada],
    ["beforeUpdate", { age: 1 }, ada],
    ["afterUpdate", older, ada],
    ["beforeUpdate", { age: 2 }, older],
    ["afterUpdate", { ...ada, age: 2 }, older],
    ["beforeDelete", { ...ada, age: 2 }],
    ["afterDelete", { ...ada, age: 2 }],
  ]);
});

it("writes the data that a hook returns, parsed", async () => {
  const db = await open({
    beforeCreate: async (data) => ({ ...data, favoriteColor: "blue" }),
    beforeUpdate: (data, before) => ({ ...data, name: `${before.name}!` }),
  });
  const ada = await db.users.create({ data: users.ada });
  expect(ada.favoriteColor).toBe("blue");
  expect(await db.users.update({ where: { id: ada.id }, data: { age: 1 } })).toEqual({
    ...ada,
    age: 1,
    name: "Ada!",
  });
  const wrong = await open({ beforeCreate: () => ({ email: "nobody" }) as never });
  expect((await rejection(wrong.users.create({ data: users.bob }))).code).toBe("KW_ROW_INVALID");
});

it("writes nothing where a hook before the write throws", async () => {
  const no = () => {
    throw new Error("no");
  };
  const plain = await createDatabase({ kv, models: { users: User } });
  const ada = await plain.users.create({ data: users.ada });
  const before = await entriesOf(kv);
  const db = await open({ beforeCreate: no, beforeUpdate: no, beforeDelete: no });
  const where = { id: ada.id };
  const writes = [
    db.users.create({ data: users.bob }),
    db.users.update({ where, data: {} }),
    db.users.delete({ where }),
  ];
  for (const write of writes) expect((await rejection(write)).message).toBe("no");
  expect(await entriesOf(kv)).toEqual(before);
});

it("throws what a hook after the write throws, and the write stands", async () => {
  const db = await open({
    afterCreate: () => Promise.reject(new Error("after")),
  });
  expect((await rejection(db.users.create({ data: users.ada }))).message).toBe("after");
  expect(await db.users.findUnique({ where: { email: "ada@example.com" } })).toMatchObject(
    users.ada,
  );
  const within = db.transaction(async (tx) => {
    await tx.users.create({ data: users.bob });
  });
  expect((await rejection(within)).message).toBe("after");
  expect(await db.users.findUnique({ where: { email: "bob@example.com" } })).toMatchObject(
    users.bob,
  );
});

it("calls the hook before an update for the row as it is then, and the one after it once", async () => {
  const plain = await createDatabase({ kv, models: { users: User } });
  const ada = await plain.users.create({ data: { ...users.ada, age: 1 } });
  const where = { id: ada.id };
  const seen: unknown[] = [];
  let turns = 0;
  const racing = interferingKv(kv, async () => {
    if (turns++ === 0) await plain.users.update({ where, data: { age: 2 } });
  });
  const hooks: Hooks = {
    beforeUpdate: (_, before) => {
      seen.push(before.age);
      return { age: (before.age ?? 0) * 10 };
    },
    afterUpdate: (row, before) => {
      seen.push([row.age, before.age]);
    },
  };
  const db = await open(hooks, racing);
  await db.users.update({ where, data: { age: 0 } });
  expect(seen).toEqual([1, 2, [20, 2]]);
});

it("calls hooks after the writes of a transaction behind its commit, and not without one", async () => {
  const rows: (string | undefined)[] = [];
  const db = await open({
    afterCreate: async ({ id }) => {
      rows.push((await kv.get<{ name: string }>(["users", id])).value?.name);
    },
  });
  await db.transaction(async (tx) => {
    await tx.users.create({ data: users.ada });
    await tx.users.create({ data: users.bob });
    expect(rows).toEqual([]);
  });
  expect(rows).toEqual(["Ada", "Bob"]);
  await rejection(
    db.transaction(async (tx) => {
      await tx.users.create({ data: users.cyd });
      throw new Error("given up");
    }),
  );
  expect(rows).toEqual(["Ada", "Bob"]);
});

it("is not troubled by hooks that change what they are given", async () => {
  const spoil = (row: object) => {
    Object.assign(row, { email: "spoiled@example.com", favoriteColor: "spoiled" });
  };
  const db = await open({
    afterCreate: spoil,
    beforeUpdate: (_, before) => spoil(before),
    afterUpdate: (row, before) => {
      spoil(row);
      spoil(before);
    },
    beforeDelete: spoil,
    afterDelete: spoil,
  });
  const ada = await db.users.create({ data: users.ada });
  expect(ada).toMatchObject(users.ada);
  const where = { id: ada.id };
  expect(await db.users.update({ where, data: { age: 1 } })).toEqual({ ...ada, age: 1 });
  await expectIndexesToMatch(kv, User);
  expect(await db.users.delete({ where })).toEqual({ ...ada, age: 1 });
  expect(await entriesOf(kv)).toEqual([]);
});
