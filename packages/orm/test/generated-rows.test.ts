import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { type Rows, rowsOf } from "../src/codegen.js";
import {
  belongsTo,
  createDatabase,
  defineModel,
  hasMany,
  hasOne,
  type QueryEvent,
  type UpdateInput,
} from "../src/index.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.ulid(), email: z.string(), color: z.string(), visits: z.number() }),
  primaryKey: "id",
  indexes: {
    byEmail: { key: "email", unique: true, normalize: (email) => email.toLowerCase() },
    byColor: { key: "color" },
  },
});

type UserRow = z.output<typeof User.schema>;
type UserCreate = Omit<UserRow, "id"> & { readonly id?: string };
type Users = Rows<UserRow, UserCreate, UpdateInput<typeof User>>;

const ada = { email: "ada@x.org", color: "green", visits: 1 };
const bob = { email: "bob@x.org", color: "green", visits: 2 };
const green = { index: "byColor", where: { color: "green" } };
const eve = { email: "eve@x.org", color: "red", visits: 3 };

let kv: EmbeddedKv;
let events: QueryEvent[];
let hooked: string[];

beforeEach(async () => {
  kv = await openKv();
  events = [];
  hooked = [];
});
afterEach(() => kv.close());

async function open(maxReads = Number.POSITIVE_INFINITY) {
  const db = await createDatabase({
    kv,
    models: { people: User },
    maxReads,
    onQuery: (event) => events.push(event),
    hooks: {
      people: {
        beforeCreate: () => void hooked.push("beforeCreate"),
        afterUpdate: () => void hooked.push("afterUpdate"),
        beforeDelete: () => void hooked.push("beforeDelete"),
      },
    },
  });
  return { db, users: rowsOf<UserRow, UserCreate, UpdateInput<typeof User>>(db, "users") };
}

async function errorOf(promise: PromiseLike<unknown>): Promise<unknown> {
  return await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe("a generated repository's rows, as a repository does,", () => {
  it("tells of each call what it was, and what it read", async () => {
    const { db, users } = await open();
    const { id } = await users.create({ data: ada });
    const both: [() => PromiseLike<unknown>, () => PromiseLike<unknown>][] = [
      [() => users.findUnique({ where: { id } }), () => db.people.findUnique({ where: { id } })],
      [
        () => users.findUnique({ index: "byEmail", where: { email: "ADA@x.org" } }),
        () => db.people.findUnique({ where: { email: "ADA@x.org" } }),
      ],
      [() => users.findMany(green), () => db.people.findMany({ where: { color: "green" } })],
      [() => users.scan({ take: 1 }), () => db.people.scan({ take: 1 })],
      [() => users.count(), () => db.people.count()],
      [
        () => users.update({ where: { id }, data: { visits: { increment: 1 } } }),
        () => db.people.update({ where: { id }, data: { visits: { increment: 1 } } }),
      ],
      [() => users.createMany({ data: [bob] }), () => db.people.createMany({ data: [eve] })],
      [
        () => users.delete({ where: { id } }),
        async () => {
          const { id: other } = (await db.people.findUnique({ where: { email: bob.email } }))!;
          events.pop();
          await db.people.delete({ where: { id: other } });
        },
      ],
    ];
    for (const [ofGenerated, ofRepository] of both) {
      events.length = 0;
      await ofGenerated();
      await ofRepository();
      const [first, second] = events.map(({ milliseconds: _, startedAt: __, ...event }) => event);
      expect(events).toHaveLength(2);
      expect(first).toEqual(second);
    }
  });

  it("names model and operation in its errors, and the row", async () => {
    const { users } = await open();
    const { id } = await users.create({ data: ada });
    const nobody = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    const cases: [() => PromiseLike<unknown>, object][] = [
      [
        () => users.update({ where: { id: nobody }, data: { visits: 1 } }),
        { operation: "update", where: { id: nobody } },
      ],
      [
        () => users.delete({ where: { id: nobody } }),
        { operation: "delete", where: { id: nobody } },
      ],
      [() => users.create({ data: { ...ada } }), { operation: "create", index: "byEmail" }],
      [
        () => users.update({ where: { id }, data: { visits: 1 }, ifVersion: "0".repeat(20) }),
        { operation: "update", code: "KW_VERSION_CONFLICT" },
      ],
      [() => users.findUnique(green), { operation: "findUnique", code: "KW_INDEX_UNKNOWN" }],
      [() => users.findMany({ ...green, cursor: "x" }), { operation: "findMany" }],
    ];
    for (const [call, expected] of cases) {
      expect(await errorOf(call())).toMatchObject({ model: "users", ...expected });
    }
  });

  it("reads no more than it may, and writes whatever that takes", async () => {
    const { users } = await open(2);
    const created = await users.create({ data: ada });
    await users.create({ data: bob });
    const limited = { code: "KW_READ_LIMIT", model: "users", operation: "findMany" };
    expect(await errorOf(users.findMany(green))).toMatchObject(limited);
    const page = await users.findMany({ ...green, maxReads: 10 });
    expect(page.items).toHaveLength(2);
    expect(await errorOf(users.scan({ maxReads: 1 }))).toMatchObject({ operation: "scan" });
    expect(await users.delete({ where: { id: created.id } })).toEqual(created);
  });

  it("calls hooks", async () => {
    const { users } = await open();
    const { id } = await users.create({ data: ada });
    await users.update({ where: { id }, data: { color: "red" } });
    await users.delete({ where: { id } });
    expect(hooked).toEqual(["beforeCreate", "afterUpdate", "beforeDelete"]);
  });
});

describe("a generated repository's rows", () => {
  let users: Users;
  beforeEach(async () => {
    ({ users } = await open());
  });

  it("writes under a versionstamp that it gave", async () => {
    const { id } = await users.create({ data: ada });
    const { versionstamp } = (await users.findVersioned({ where: { id } }))!;
    const options = { ifVersion: versionstamp };
    expect(
      await users.update({ where: { id }, data: { visits: { increment: 4 } }, ...options }),
    ).toMatchObject({
      visits: 5,
    });
    const again = await errorOf(users.delete({ where: { id }, ...options }));
    expect(again).toMatchObject({ code: "KW_VERSION_CONFLICT" });
    const nobody = { id: "01ARZ3NDEKTSV4RRFFQ69G5FAV" };
    expect(await users.findVersioned({ where: nobody })).toBeNull();
  });

  it("finds a row or throws, and several at once in the order of their keys", async () => {
    const [{ id: first }, { id: second }] = [
      await users.create({ data: ada }),
      await users.create({ data: bob }),
    ];
    const nobody = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    expect(await users.findUniqueOrThrow({ where: { id: first } })).toEqual({ ...ada, id: first });
    expect(await errorOf(users.findUniqueOrThrow({ where: { id: nobody } }))).toMatchObject({
      code: "KW_ROW_NOT_FOUND",
      where: { id: nobody },
      operation: "findUniqueOrThrow",
    });
    events.length = 0;
    const found = await users.findEach([second, nobody, first, second]);
    expect(found).toMatchObject([bob, null, ada, bob]);
    expect(events).toMatchObject([{ operation: "findMany", index: "primaryKey", reads: 4 }]);
    expect(await users.findEach([])).toEqual([]);
    const refused = await errorOf(users.findEach([first, undefined]));
    expect(refused).toMatchObject({ code: "KW_QUERY_INVALID", operation: "findMany" });
  });

  it("upserts by primary key, which the new row gets, and by unique values", async () => {
    const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    const visit = { create: ada, update: { visits: { increment: 1 } } };
    expect(await users.upsert({ where: { id }, ...visit })).toEqual({ ...ada, id });
    expect(await users.upsert({ where: { id }, ...visit })).toEqual({ ...ada, id, visits: 2 });
    const where = { email: "ADA@X.org" };
    const byEmail = await users.upsert({ index: "byEmail", where, ...visit });
    expect(byEmail).toEqual({ ...ada, id, visits: 3 });
    const { email } = bob;
    const both = { create: bob, update: {} };
    const created = await users.upsert({ index: "byEmail", where: { email }, ...both });
    expect(created).toMatchObject(bob);
    const missing = { create: null as never, update: {} };
    const other = { id: "01ARZ3NDEKTSV4RRFFQ69G5FAW" };
    const refused = await errorOf(users.upsert({ where: other, ...missing }));
    expect(refused).toMatchObject({ code: "KW_ARGUMENT_INVALID", argument: "create" });
  });

  it("lists by page and one by one, forward and backward", async () => {
    await users.createMany({ data: [ada, bob, eve] });
    const emails: string[] = [];
    const backward = { index: "byColor", where: { color: { gte: "a" } }, order: "desc" } as const;
    for await (const { email } of users.findMany(backward)) emails.push(email);
    expect(emails).toEqual([eve.email, bob.email, ada.email]);
    const { cursor } = await users.scan({ take: 2 });
    expect((await users.scan({ cursor })).items).toMatchObject([eve]);
    expect((await users.scan({ order: "desc", take: 1 })).items).toMatchObject([eve]);
    expect(await users.count(green)).toBe(2);
  });

  it("watches rows and lists", async () => {
    const { id } = await users.create({ data: ada });
    const row = users.watch({ where: { id } }).getReader();
    const unique = users.watch({ index: "byEmail", where: { email: "ADA@x.org" } }).getReader();
    const list = users.watchMany({ ...green, order: "desc" }).getReader();
    expect((await row.read()).value).toMatchObject(ada);
    expect((await unique.read()).value).toMatchObject(ada);
    expect((await list.read()).value).toMatchObject([ada]);
    await users.create({ data: bob });
    expect((await list.read()).value).toMatchObject([bob, ada]);
    await users.delete({ where: { id } });
    expect((await row.read()).value).toBeNull();
    expect((await unique.read()).value).toBeNull();
    await Promise.all([row.cancel(), unique.cancel(), list.cancel()]);
  });
});

it("related rows are not found by a condition in place of the key of a row", async () => {
  const schema = z.object({ id: z.string(), userId: z.string() });
  const models = {
    users: defineModel({
      name: "users",
      schema: z.object({ id: z.string() }),
      primaryKey: "id",
      relations: { posts: hasMany("posts", "userId"), first: hasOne("posts", "userId") },
    }),
    posts: defineModel({
      name: "posts",
      schema,
      primaryKey: "id",
      indexes: { byUser: { key: "userId" } },
      relations: { user: belongsTo("users", "userId") },
    }),
  };
  const db = await createDatabase({ kv, models });
  for (const id of ["a", "b"]) {
    await db.users.create({ data: { id } });
    await db.posts.create({ data: { id: `post ${id}`, userId: id } });
  }
  const people = rowsOf<{ id: string }, never, never>(db, "users");
  const posts = rowsOf<z.output<typeof schema>, never, never>(db, "posts");
  expect((await people.listRelated("posts", { id: "a" })).items).toHaveLength(1);
  const conditions = [{ gte: "" }, { in: ["a", "b"] }, ["a", "b"], {}, undefined, null];
  for (const id of conditions) {
    const row = { id } as never;
    const invalid = { code: "KW_QUERY_INVALID", field: "userId" };
    await expect(people.listRelated("posts", row)).rejects.toMatchObject(invalid);
    await expect(people.loadRelated("posts", row)).rejects.toMatchObject(invalid);
    await expect(people.loadRelated("first", row)).rejects.toMatchObject(invalid);
    expect(await posts.loadRelated("user", { id: "p", userId: id } as never)).toBeNull();
  }
});
