import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  createDatabase,
  defineModel,
  type QueryEvent,
  type Table,
  tableOf,
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
type Users = Table<UserRow, UserCreate, UpdateInput<typeof User>>;

const ada = { email: "ada@x.org", color: "green", visits: 1 };
const bob = { email: "bob@x.org", color: "green", visits: 2 };
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
  return { db, users: tableOf<UserRow, UserCreate, UpdateInput<typeof User>>(db, "users") };
}

async function errorOf(promise: PromiseLike<unknown>): Promise<unknown> {
  return await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe("a table, as a repository does,", () => {
  it("tells of each call what it was, and what it read", async () => {
    const { db, users } = await open();
    const { id } = await users.create(ada);
    const both: [() => PromiseLike<unknown>, () => PromiseLike<unknown>][] = [
      [() => users.findByPrimaryKey([id]), () => db.people.findUnique({ where: { id } })],
      [
        () => users.findByIndex("byEmail", ["ADA@x.org"]),
        () => db.people.findUnique({ where: { email: "ADA@x.org" } }),
      ],
      [
        () => users.listByIndex("byColor", ["green"]),
        () => db.people.findMany({ where: { color: "green" } }),
      ],
      [() => users.scan({ take: 1 }), () => db.people.scan({ take: 1 })],
      [() => users.count(), () => db.people.count()],
      [
        () => users.update([id], { visits: { increment: 1 } }),
        () => db.people.update({ where: { id }, data: { visits: { increment: 1 } } }),
      ],
      [() => users.createMany([bob]), () => db.people.createMany({ data: [eve] })],
      [
        () => users.delete([id]),
        async () => {
          const { id: other } = (await db.people.findUnique({ where: { email: bob.email } }))!;
          events.pop();
          await db.people.delete({ where: { id: other } });
        },
      ],
    ];
    for (const [ofTable, ofRepository] of both) {
      events.length = 0;
      await ofTable();
      await ofRepository();
      const [first, second] = events.map(({ milliseconds: _, startedAt: __, ...event }) => event);
      expect(events).toHaveLength(2);
      expect(first).toEqual(second);
    }
  });

  it("names model and operation in its errors, and the row", async () => {
    const { users } = await open();
    const { id } = await users.create(ada);
    const nobody = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    const cases: [PromiseLike<unknown>, object][] = [
      [users.update([nobody], { visits: 1 }), { operation: "update", where: { id: nobody } }],
      [users.delete([nobody]), { operation: "delete", where: { id: nobody } }],
      [users.create({ ...ada }), { operation: "create", index: "byEmail" }],
      [
        users.update([id], { visits: 1 }, { ifVersion: "0".repeat(20) }),
        { operation: "update", code: "KW_VERSION_CONFLICT" },
      ],
      [users.findByIndex("byColor", ["green"]), { operation: "findUnique" }],
      [users.listByIndex("byColor", ["green"], { cursor: "x" }), { operation: "findMany" }],
    ];
    for (const [call, expected] of cases) {
      expect(await errorOf(call)).toMatchObject({ model: "users", ...expected });
    }
  });

  it("reads no more than it may, and writes whatever that takes", async () => {
    const { users } = await open(2);
    const created = await users.create(ada);
    await users.create(bob);
    const limited = { code: "KW_READ_LIMIT", model: "users", operation: "findMany" };
    expect(await errorOf(users.listByIndex("byColor", ["green"]))).toMatchObject(limited);
    const page = await users.listByIndex("byColor", ["green"], { maxReads: 10 });
    expect(page.items).toHaveLength(2);
    expect(await errorOf(users.scan({ maxReads: 1 }))).toMatchObject({ operation: "scan" });
    expect(await users.delete([created.id])).toEqual(created);
  });

  it("calls hooks", async () => {
    const { users } = await open();
    const { id } = await users.create(ada);
    await users.update([id], { color: "red" });
    await users.delete([id]);
    expect(hooked).toEqual(["beforeCreate", "afterUpdate", "beforeDelete"]);
  });
});

describe("a table", () => {
  let users: Users;
  beforeEach(async () => {
    ({ users } = await open());
  });

  it("writes under a versionstamp that it gave", async () => {
    const { id } = await users.create(ada);
    const { versionstamp } = (await users.findVersionedByPrimaryKey([id]))!;
    const options = { ifVersion: versionstamp };
    expect(await users.update([id], { visits: { increment: 4 } }, options)).toMatchObject({
      visits: 5,
    });
    const again = await errorOf(users.delete([id], options));
    expect(again).toMatchObject({ code: "KW_VERSION_CONFLICT" });
    expect(await users.findVersionedByPrimaryKey(["01ARZ3NDEKTSV4RRFFQ69G5FAV"])).toBeNull();
  });

  it("finds a row or throws, and several at once in the order of their keys", async () => {
    const [{ id: first }, { id: second }] = [await users.create(ada), await users.create(bob)];
    const nobody = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    expect(await users.findByPrimaryKeyOrThrow([first])).toEqual({ ...ada, id: first });
    expect(await errorOf(users.findByPrimaryKeyOrThrow([nobody]))).toMatchObject({
      code: "KW_ROW_NOT_FOUND",
      where: { id: nobody },
      operation: "findUniqueOrThrow",
    });
    events.length = 0;
    const found = await users.findEachByPrimaryKey([[second], [nobody], [first], [second]]);
    expect(found).toMatchObject([bob, null, ada, bob]);
    expect(events).toMatchObject([{ operation: "findMany", index: "primaryKey", reads: 4 }]);
    expect(await users.findEachByPrimaryKey([])).toEqual([]);
    const refused = await errorOf(users.findEachByPrimaryKey([[first], [undefined]]));
    expect(refused).toMatchObject({ code: "KW_QUERY_INVALID", operation: "findMany" });
  });

  it("upserts by primary key, which the new row gets, and by unique values", async () => {
    const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    const visit = { create: ada, update: { visits: { increment: 1 } } };
    expect(await users.upsert([id], visit)).toEqual({ ...ada, id });
    expect(await users.upsert([id], visit)).toEqual({ ...ada, id, visits: 2 });
    const byEmail = await users.upsertByIndex("byEmail", ["ADA@X.org"], visit);
    expect(byEmail).toEqual({ ...ada, id, visits: 3 });
    const created = await users.upsertByIndex("byEmail", [bob.email], { create: bob, update: {} });
    expect(created).toMatchObject(bob);
    const missing = { create: null as never, update: {} };
    const refused = await errorOf(users.upsert(["01ARZ3NDEKTSV4RRFFQ69G5FAW"], missing));
    expect(refused).toMatchObject({ code: "KW_ROW_INVALID", operation: "upsert" });
  });

  it("lists by page and one by one, forward and backward", async () => {
    await users.createMany([ada, bob, eve]);
    const emails: string[] = [];
    for await (const { email } of users.listByIndex("byColor", [{ gte: "a" }], { order: "desc" })) {
      emails.push(email);
    }
    expect(emails).toEqual([eve.email, bob.email, ada.email]);
    const { cursor } = await users.scan({ take: 2 });
    expect((await users.scan({ cursor })).items).toMatchObject([eve]);
    expect((await users.scan({ order: "desc", take: 1 })).items).toMatchObject([eve]);
    expect(await users.countByIndex("byColor", ["green"])).toBe(2);
  });

  it("watches rows and lists", async () => {
    const { id } = await users.create(ada);
    const row = users.watchByPrimaryKey([id]).getReader();
    const unique = users.watchRowByIndex("byEmail", ["ADA@x.org"]).getReader();
    const list = users.watchByIndex("byColor", ["green"], { order: "desc" }).getReader();
    expect((await row.read()).value).toMatchObject(ada);
    expect((await unique.read()).value).toMatchObject(ada);
    expect((await list.read()).value).toMatchObject([ada]);
    await users.create(bob);
    expect((await list.read()).value).toMatchObject([bob, ada]);
    await users.delete([id]);
    expect((await row.read()).value).toBeNull();
    expect((await unique.read()).value).toBeNull();
    await Promise.all([row.cancel(), unique.cancel(), list.cancel()]);
  });
});
