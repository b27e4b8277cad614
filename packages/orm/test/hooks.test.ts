import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, type DatabaseOptions, defineModel } from "../src/index.js";
import { interferingKv } from "./faulty-kv.js";
import { entriesOf, rejection, rejections, User, users } from "./user-model.js";
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

it("takes hooks and other options that are kept in variables, and may be undefined", async () => {
  const hooks: DatabaseOptions<{ users: typeof User }>["hooks"] = { users: undefined };
  const none = { maxReads: undefined, validateReads: undefined, migrations: undefined };
  const db = await createDatabase({ kv, models: { users: User }, hooks, ...none });
  const functions = { hooks: undefined, middleware: undefined, onQuery: undefined };
  const other = await createDatabase({ kv, models: { users: User }, ...functions });
  const ada = await db.users.create({ data: users.ada });
  expect(await other.users.findUnique({ where: { id: ada.id } })).toEqual(ada);
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
  for (const error of await rejections(writes)) expect(error.message).toBe("no");
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

it("gives each call of a hook data of its own, also what is within them", async () => {
  const Post = defineModel({
    name: "posts",
    schema: z.object({
      id: z.string(),
      tags: z.array(z.string()),
      meta: z.object({ at: z.date(), by: z.array(z.string()) }).optional(),
    }),
    primaryKey: "id",
  });
  const models = { posts: Post };
  const plain = await createDatabase({ kv, models });
  let turns = 0;
  const racing = interferingKv(kv, async () => {
    if (turns++ < 2) await plain.posts.update({ where: { id: "a" }, data: { tags: [`${turns}`] } });
  });
  const db = await createDatabase({
    kv: racing,
    models,
    hooks: {
      posts: {
        beforeCreate: (data) => {
          data.tags.push("hook");
        },
        beforeUpdate: ({ tags, meta }) => {
          if (Array.isArray(tags)) tags.push("hook");
          if (meta !== undefined && "at" in meta) {
            meta.at.setTime(7);
            meta.by.push("hook");
          }
        },
      },
    },
  });
  turns = 2;
  const created = { id: "a", tags: ["first"] };
  expect(await db.posts.create({ data: created })).toMatchObject({ tags: ["first", "hook"] });
  expect(created.tags).toEqual(["first"]);
  turns = 0;
  const meta = { at: new Date(0), by: ["me"] };
  const data = { tags: ["second"], meta };
  const updated = await db.posts.update({ where: { id: "a" }, data });
  expect(turns).toBe(3);
  expect(updated).toEqual({
    id: "a",
    tags: ["second", "hook"],
    meta: { at: new Date(7), by: ["me", "hook"] },
  });
  expect(data).toEqual({ tags: ["second"], meta: { at: new Date(0), by: ["me"] } });
});

it("hands a hook what nobody can copy as it is", async () => {
  class Money {
    readonly cents: number;
    constructor(cents: number) {
      this.cents = cents;
    }
  }
  const Order = defineModel({
    name: "orders",
    schema: z.object({
      id: z.string(),
      price: z.instanceof(Money).transform(({ cents }) => cents),
      format: z
        .function()
        .optional()
        .transform(() => "text"),
    }),
    primaryKey: "id",
  });
  const db = await createDatabase({
    kv,
    models: { orders: Order },
    hooks: { orders: { beforeCreate: () => undefined, beforeUpdate: () => undefined } },
  });
  const order = { id: "a", price: 5, format: "text" };
  const data = { price: new Money(5), format: (() => "") as never };
  expect(await db.orders.create({ data: { id: "a", ...data } })).toEqual(order);
  const price = new Money(7);
  expect(await db.orders.update({ where: { id: "a" }, data: { price } })).toEqual({
    ...order,
    price: 7,
  });
});
