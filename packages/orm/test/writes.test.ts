import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, type Database, defineModel, desc } from "../src/index.js";
import { interferingKv } from "./faulty-kv.js";
import { entriesOf, rejection, rejections, User, users } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

let kv: EmbeddedKv;
let db: Database<{ users: typeof User }>;
beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models: { users: User } });
});
afterEach(() => kv.close());

const versioned = { withVersionstamp: true } as never;

describe("versionstamps", () => {
  it("are those of the commit", async () => {
    const created = (await db.users.create({
      data: users.ada,
      ...(versioned as object),
    })) as never as {
      row: { id: string };
      versionstamp: string;
    };
    const key = ["users", created.row.id];
    expect(created.versionstamp).toBe((await kv.get(key)).versionstamp);
    const where = { id: created.row.id };
    const updated = (await db.users.update({
      where,
      data: { age: 1 },
      ...(versioned as object),
    })) as never as {
      versionstamp: string;
    };
    expect(updated.versionstamp).toBe((await kv.get(key)).versionstamp);
    expect(updated.versionstamp > created.versionstamp).toBe(true);
  });

  it("of a deleted row are those that it had", async () => {
    const ada = await db.users.create({ data: users.ada });
    const { versionstamp } = await kv.get(["users", ada.id]);
    const deleted = await db.users.delete({ where: { id: ada.id }, ...(versioned as object) });
    expect(deleted).toEqual({ row: ada, versionstamp });
  });
});

describe("ifVersion", () => {
  it("lets a write through to that version and no other, at once", async () => {
    const ada = await db.users.create({ data: users.ada });
    const where = { id: ada.id };
    const first = (await kv.get(["users", ada.id])).versionstamp as string;
    await db.users.update({ where, data: { age: 1 }, ifVersion: first });
    const error = await rejection(db.users.update({ where, data: { age: 2 }, ifVersion: first }));
    expect(error).toMatchObject({ code: "KW_VERSION_CONFLICT", id: ada.id, attempts: 1 });
    expect((await rejection(db.users.delete({ where, ifVersion: first }))).code).toBe(
      "KW_VERSION_CONFLICT",
    );
    expect(await db.users.findUnique({ where })).toMatchObject({ age: 1 });
    const second = (await kv.get(["users", ada.id])).versionstamp as string;
    await db.users.delete({ where, ifVersion: second });
    expect(await entriesOf(kv)).toEqual([]);
  });

  it("notices a change between its look and its commit", async () => {
    const ada = await db.users.create({ data: users.ada });
    const where = { id: ada.id };
    const { versionstamp } = await kv.get(["users", ada.id]);
    let changes = 0;
    const racing = interferingKv(kv, async () => {
      if (changes++ === 0) await db.users.update({ where, data: { age: 1 } });
    });
    const writer = await createDatabase({ kv: racing, models: { users: User } });
    const ifVersion = versionstamp as string;
    expect(
      await rejection(writer.users.update({ where, data: { age: 2 }, ifVersion })),
    ).toMatchObject({
      code: "KW_VERSION_CONFLICT",
      attempts: 1,
    });
    expect(await db.users.findUnique({ where })).toMatchObject({ age: 1 });
  });

  it.each(["", "0000", "0000000000000000000G", 7, null])(
    "refuses %j, which is none",
    async (ifVersion) => {
      const ada = await db.users.create({ data: users.ada });
      const write = { where: { id: ada.id }, ifVersion: ifVersion as never };
      const invalid = { code: "KW_ARGUMENT_INVALID", argument: "ifVersion" };
      expect(await rejection(db.users.update({ ...write, data: {} }))).toMatchObject(invalid);
      expect(await rejection(db.users.delete(write))).toMatchObject(invalid);
    },
  );
});

it("deletes a row that others keep changing", async () => {
  const ada = await db.users.create({ data: users.ada });
  const where = { id: ada.id };
  let left = 5;
  const racing = interferingKv(kv, async () => {
    if (left-- > 0) await db.users.update({ where, data: { email: `ada${left}@example.com` } });
  });
  const writer = await createDatabase({ kv: racing, models: { users: User } });
  expect(await writer.users.delete({ where })).toMatchObject({ email: "ada0@example.com" });
  expect(await entriesOf(kv)).toEqual([]);
});

it("applies several updates of one row within a transaction", async () => {
  const ada = await db.users.create({ data: { ...users.ada, age: 0 } });
  const where = { id: ada.id };
  await db.transaction(async (tx) => {
    await Promise.all(
      [1, 2, 3].map(() => tx.users.update({ where, data: { age: { increment: 1 } } })),
    );
    await tx.users.update({ where, data: { email: "new@example.com" } });
  });
  expect(await db.users.findUnique({ where })).toMatchObject({ age: 3, email: "new@example.com" });
  await expectIndexesToMatch(kv, User);
});

it("plans a changed row anew before it says that a unique value is taken", async () => {
  const Slot = defineModel({
    name: "slots",
    schema: z.object({ id: z.string(), room: z.string(), hour: z.number() }),
    primaryKey: "id",
    indexes: { byPlace: { key: ["room", "hour"], unique: true } },
  });
  const own = await createDatabase({ kv, models: { slots: Slot } });
  await own.slots.create({ data: { id: "a", room: "red", hour: 1 } });
  await own.slots.create({ data: { id: "b", room: "blue", hour: 1 } });
  let turns = 0;
  const racing = interferingKv(kv, async () => {
    // As the row is first read, its new room is taken at its hour; as it is at the commit, it is
    // not.
    if (turns++ === 0) await own.slots.update({ where: { id: "b" }, data: { hour: 2 } });
  });
  const writer = await createDatabase({ kv: racing, models: { slots: Slot } });
  expect(await writer.slots.update({ where: { id: "b" }, data: { room: "red" } })).toMatchObject({
    hour: 2,
  });
  await expectIndexesToMatch(kv, Slot);
});

it("puts every kind of index entry there, moves it and takes it away", async () => {
  const Post = defineModel({
    name: "posts",
    schema: z.object({
      id: z.string(),
      tags: z.array(z.string()),
      at: z.number(),
      open: z.boolean(),
    }),
    primaryKey: "id",
    indexes: {
      byTag: { key: "tags", each: true },
      byNewest: { key: desc("at") },
      byOpen: { key: "at", where: ({ open }) => open },
      byCopy: { key: "at", store: "copy", unique: true },
    },
  });
  const own = await createDatabase({ kv, models: { posts: Post } });
  const where = { id: "a" };
  const keys = async () => (await entriesOf(kv)).map(({ key }) => (key as unknown[])[0]);
  await own.posts.create({ data: { id: "a", tags: ["x", "y", "x"], at: 1, open: true } });
  expect(await keys()).toEqual([
    "posts",
    "posts_by_copy",
    "posts_by_newest",
    "posts_by_open",
    "posts_by_tag",
    "posts_by_tag",
  ]);
  await own.posts.update({ where, data: { tags: ["y"], open: false } });
  expect(await keys()).toEqual(["posts", "posts_by_copy", "posts_by_newest", "posts_by_tag"]);
  // A copy is that of the row as it is now, also where its key is the same.
  expect((await kv.get(["posts_by_copy", 1])).value).toEqual({
    id: "a",
    tags: ["y"],
    at: 1,
    open: false,
  });
  await own.posts.delete({ where });
  expect(await keys()).toEqual([]);
});

it("takes what is no object for data that the schema refuses", async () => {
  for (const data of [undefined, null, "ada", 7, [], [users.ada], () => users.ada]) {
    expect(await rejection(db.users.create({ data: data as never }))).toMatchObject({
      code: "KW_ROW_INVALID",
      issues: [{ path: [], code: "invalid_type" }],
    });
  }
  expect(await entriesOf(kv)).toEqual([]);
});

it("takes data that schemas with asynchronous parts accept", async () => {
  const Slow = defineModel({
    name: "slow",
    schema: z.object({ id: z.string(), name: z.string().transform(async (text) => text.trim()) }),
    primaryKey: "id",
  });
  const own = await createDatabase({ kv, models: { slow: Slow } });
  expect(await own.slow.create({ data: { id: "a", name: " x " } })).toEqual({ id: "a", name: "x" });
  expect(await own.slow.create({ data: { id: "b", name: " y " } })).toEqual({ id: "b", name: "y" });
});

it("marks each change of a live model, once for the model and once for each group of entries", async () => {
  const Live = defineModel({ ...User, live: true });
  const own = await createDatabase({ kv, models: { users: Live } });
  const marks = async () => {
    const found: [string, bigint][] = [];
    for await (const { key, value } of kv.list<{ value: bigint }>({
      prefix: ["__keywright", "changes"],
    })) {
      found.push([key.slice(3).join(), value.value]);
    }
    return new Map(found);
  };
  const ada = await own.users.create({ data: users.ada });
  const created = await marks();
  expect(created.size).toBe(3);
  expect(created.get("")).toBe(1n);
  // Nothing of the indexes changes, but who reads their range sees another row.
  await own.users.update({ where: { id: ada.id }, data: { name: "Ada L." } });
  expect([...(await marks()).values()]).toEqual([2n, 2n, 2n]);
  await own.users.delete({ where: { id: ada.id } });
  expect([...(await marks()).values()]).toEqual([3n, 3n, 3n]);
});

describe("expireIn", () => {
  it.each([
    0,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e16,
    2 ** 53,
    "5",
    5n,
    [5],
    {},
    null,
    true,
  ])("is refused where it is %s", async (given) => {
    const expireIn = given as never;
    const { id } = await db.users.create({ data: users.ada });
    const invalid = { code: "KW_ARGUMENT_INVALID", argument: "expireIn" };
    const where = { id };
    const writes = [
      db.users.create({ data: users.bob, expireIn }),
      db.users.update({ where, data: {}, expireIn }),
      db.users.upsert({ where, create: users.ada, update: {}, expireIn }),
    ];
    for (const error of await rejections(writes)) expect(error).toMatchObject(invalid);
  });

  it("reaches the database as a whole number, in each entry of the commit", async () => {
    const given: unknown[] = [];
    const watched = new Proxy(kv, {
      get(target, property) {
        const member: unknown = Reflect.get(target, property, target);
        if (property !== "atomic")
          return typeof member === "function" ? member.bind(target) : member;
        return () => {
          const operation = target.atomic();
          const set = operation.set.bind(operation);
          operation.set = (key, value, options) => {
            if (key[0] !== "__keywright") given.push(options?.expireIn);
            return set(key, value, options);
          };
          return operation;
        };
      },
    });
    const own = await createDatabase({ kv: watched, models: { users: User } });
    const { id } = await own.users.create({ data: users.ada, expireIn: 60_000.25 });
    await own.users.update({ where: { id }, data: { name: "A" }, expireIn: 2 ** 52 - 0.5 });
    expect(given).toEqual([60_001, 60_001, 60_001, 2 ** 52, 2 ** 52, 2 ** 52]);
    expect(await own.users.findUnique({ where: { id } })).toMatchObject({ name: "A" });
    await own.users.update({ where: { id }, data: { name: "B" } });
    expect(await own.users.findUnique({ where: { id } })).toMatchObject({ name: "B" });
  });
});

describe("a row written by hand, with a value that an index cannot hold", () => {
  const id = "01H76YTWK3YBV020S6MP69TBEQ";
  const where = { id };
  beforeEach(async () => {
    // One index holds it, the other one cannot.
    await kv.set(["users", id], { ...users.ada, id, email: { oops: 1 } });
    await kv.set(["users_by_favorite_color", "green", id], id);
  });

  it("can be deleted", async () => {
    await db.users.delete({ where });
    expect(await entriesOf(kv)).toEqual([]);
  });

  it("can be put right", async () => {
    const data = { email: "right@example.com", favoriteColor: "red" };
    await db.users.update({ where, data });
    expect(await db.users.findUnique({ where: { email: data.email } })).toMatchObject(data);
    await expectIndexesToMatch(kv, User);
  });

  it("can be changed elsewhere, and stays without an entry", async () => {
    const before = await entriesOf(kv);
    const changed = await db.users.update({ where, data: { name: "New" } });
    expect(changed).toMatchObject({ name: "New", email: { oops: 1 } });
    expect(await entriesOf(kv)).toHaveLength(before.length);
    await db.users.update({ where, data: { favoriteColor: "red" } });
    expect(await db.users.findMany({ where: { favoriteColor: "red" } })).toMatchObject({
      items: [{ id }],
    });
  });
});
