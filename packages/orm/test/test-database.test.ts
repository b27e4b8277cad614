import { isKeywrightError } from "@keywright/core";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { belongsTo, defineModel, hasMany, migrationStatus } from "../src/index.js";
import { factory, testDatabase } from "../src/testing.js";

const User = defineModel({
  name: "users",
  schema: z.object({
    id: z.ulid(),
    name: z.string(),
    email: z.email(),
    role: z.enum(["member", "admin"]).default("member"),
    teamId: z.int().optional(),
  }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true } },
  relations: { posts: hasMany("posts", "authorId") },
});

const Post = defineModel({
  name: "posts",
  schema: z.object({
    id: z.int(),
    authorId: z.string(),
    editorId: z.string().nullable().default(null),
    title: z.string(),
  }),
  primaryKey: "id",
  indexes: { byAuthor: { key: "authorId" }, byEditor: { key: "editorId" } },
  relations: { author: belongsTo("users", "authorId"), editor: belongsTo("users", "editorId") },
});

/** Refers to rows whose primary key has two fields. */
const Seat = defineModel({
  name: "seats",
  schema: z.object({ hall: z.string(), number: z.int() }),
  primaryKey: ["hall", "number"],
});
const Ticket = defineModel({
  name: "tickets",
  schema: z.object({ id: z.int(), seatHall: z.string(), seatNumber: z.int() }),
  primaryKey: "id",
  indexes: { bySeat: { key: ["seatHall", "seatNumber"] } },
  relations: { seat: belongsTo("seats", ["seatHall", "seatNumber"]) },
});

const models = { users: User, posts: Post };

const opened = () => testDatabase(models);

type Opened = Awaited<ReturnType<typeof opened>>;

function factories(db: Opened) {
  const users = factory(db.users, {
    defaults: ({ sequence }) => ({ name: "Ada", email: `ada${sequence}@example.com` }),
    traits: {
      admin: { role: "admin" },
      named: ({ sequence }) => ({ name: `Ada ${sequence}` }),
    },
  });
  const posts = factory(db.posts, {
    defaults: ({ sequence }) => ({ id: sequence, title: `Post ${sequence}` }),
    parents: { author: users },
  });
  return { users, posts };
}

describe("testDatabase", () => {
  it("opens another empty database in each call", async () => {
    await using first = await testDatabase(models);
    await using second = await testDatabase(models);
    await first.users.create({ data: { name: "Ada", email: "ada@example.com" } });
    expect((await first.users.scan()).items).toHaveLength(1);
    expect((await second.users.scan()).items).toEqual([]);
  });

  it("is a database whose indexes can be read, with transactions and the functions for one", async () => {
    await using db = await testDatabase(models);
    const { id } = await db.transaction((tx) =>
      tx.users.create({ data: { name: "Ada", email: "ada@example.com" } }),
    );
    const found = await db.users.findUniqueOrThrow({ where: { email: "ada@example.com" } });
    expect(found.id).toBe(id);
    expect((await db.kv.get(["users_by_email", "ada@example.com"])).value).toBe(id);
    expect((await migrationStatus(db)).models.map(({ model }) => model)).toEqual([
      "users",
      "posts",
    ]);
  });

  it("is closed by await using and by close, also twice", async () => {
    let kept: Opened | undefined;
    {
      await using db = await testDatabase(models);
      kept = db;
    }
    await expect(kept.users.scan()).rejects.toMatchObject({ code: "KW_DATABASE_CLOSED" });
    const other = await testDatabase(models);
    await other.close();
    await other.close();
    await expect(other.kv.get(["a"])).rejects.toMatchObject({ code: "KW_DATABASE_CLOSED" });
  });

  it("takes the options of createDatabase, and Deno's order of keys", async () => {
    const events: string[] = [];
    await using db = await testDatabase(models, {
      compat: "deno",
      onQuery: ({ model, operation }) => events.push(`${model}.${operation}`),
      hooks: { users: { beforeCreate: (data) => ({ ...data, name: data.name.toUpperCase() }) } },
    });
    const ada = await db.users.create({ data: { name: "Ada", email: "ada@example.com" } });
    expect(ada.name).toBe("ADA");
    expect(events).toEqual(["users.create"]);
    expect(db.kv.limits.keys).toBe(10);
  });

  it("refuses a model whose name it needs itself, and models that are not valid", async () => {
    await expect(testDatabase({ close: Seat })).rejects.toMatchObject({
      code: "KW_MODEL_INVALID",
      message: expect.stringContaining("name it otherwise than close"),
    });
    const posts: object = { posts: Post };
    await expect(testDatabase(posts as never)).rejects.toSatisfy(isKeywrightError);
    // @ts-expect-error no model is named users
    await expect(testDatabase({ posts: Post })).rejects.toSatisfy(isKeywrightError);
  });
});

describe("factory", () => {
  it("builds data from its defaults, and writes nothing", async () => {
    await using db = await opened();
    const { users, posts } = factories(db);
    expect(users.build()).toEqual({ name: "Ada", email: "ada1@example.com" });
    expect(users.build({ name: "Eve" })).toEqual({ name: "Eve", email: "ada2@example.com" });
    expect(posts.build()).toEqual({ id: 1, title: "Post 1" });
    expect((await db.users.scan()).items).toEqual([]);
  });

  it("creates a row with its parent, unless the reference is given", async () => {
    await using db = await opened();
    const { users, posts } = factories(db);
    const post = await posts.create({ title: "First" });
    const author = await db.users.findUniqueOrThrow({ where: { id: post.authorId } });
    expect([post.title, post.editorId, author.email]).toEqual(["First", null, "ada1@example.com"]);
    const second = await posts.create({ authorId: author.id });
    expect(second.authorId).toBe(author.id);
    const ada = await users.with("admin").create();
    const third = await posts.create({ authorId: ada.id, editorId: author.id });
    expect([third.authorId, third.editorId]).toEqual([ada.id, author.id]);
    expect((await db.users.scan()).items).toHaveLength(2);
  });

  it("creates parents of parents, also by a key of two fields", async () => {
    await using db = await testDatabase({ seats: Seat, tickets: Ticket });
    const seats = factory(db.seats, {
      defaults: ({ sequence }) => ({ hall: "A", number: sequence }),
    });
    const tickets = factory(db.tickets, {
      defaults: ({ sequence }) => ({ id: sequence }),
      parents: { seat: seats },
      sequence: 7,
    });
    expect(await tickets.create()).toEqual({ id: 7, seatHall: "A", seatNumber: 1 });
    expect(await tickets.create()).toEqual({ id: 8, seatHall: "A", seatNumber: 2 });
  });

  it("leaves a reference that was given as null", async () => {
    await using db = await opened();
    const { users } = factories(db);
    const posts = factory(db.posts, {
      defaults: ({ sequence }) => ({ id: sequence, title: "x" }),
      parents: { author: users, editor: users.with("admin") },
    });
    expect((await posts.create({ editorId: null })).editorId).toBeNull();
    const { editorId } = await posts.create();
    const editor = await db.users.findUniqueOrThrow({ where: { id: editorId ?? "" } });
    expect(editor.role).toBe("admin");
  });

  it("creates many rows, with the same overrides or those of each position", async () => {
    await using db = await opened();
    const { users, posts } = factories(db);
    const ada = await users.create();
    const rows = await posts.createMany(3, { authorId: ada.id });
    expect(rows.map(({ id, authorId }) => [id, authorId])).toEqual(
      [1, 2, 3].map((id) => [id, ada.id]),
    );
    const admins = await users.with("admin").createMany(2, (index) => ({ name: `N${index}` }));
    expect(admins.map(({ name, role }) => [name, role])).toEqual([
      ["N0", "admin"],
      ["N1", "admin"],
    ]);
    expect(await users.createMany(0)).toEqual([]);
    await expect(users.createMany(2, { email: "same@example.com" })).rejects.toMatchObject({
      code: "KW_UNIQUE_CONSTRAINT",
    });
  });

  it("applies traits in their order, and overrides last", async () => {
    await using db = await opened();
    const { users } = factories(db);
    const named = users.with("named", "admin");
    expect(named.build()).toMatchObject({ name: "Ada 1", role: "admin" });
    expect(named.build({ name: "Eve" })).toMatchObject({ name: "Eve", role: "admin" });
    expect(users.build()).toMatchObject({ name: "Ada", email: "ada3@example.com" });
  });

  it("creates rows in a transaction", async () => {
    await using db = await opened();
    const failing = db.transaction(async (tx) => {
      await factory(tx.users, {
        defaults: () => ({ name: "Ada", email: "ada@example.com" }),
      }).create();
      throw new Error("undone");
    });
    await expect(failing).rejects.toThrow("undone");
    expect((await db.users.scan()).items).toEqual([]);
  });

  it("refuses what is not valid", async () => {
    await using db = await opened();
    const { users } = factories(db);
    const defaults = () => ({});
    const refusals: readonly (readonly [() => unknown, string])[] = [
      [() => factory({} as never, { defaults } as never), "repository is not valid"],
      [() => factory(db.users, undefined as never), "it must be an object"],
      [() => factory(db.users, { default: defaults } as never), 'did you mean "defaults"?'],
      [() => factory(db.users, { defaults: {} } as never), "a function that returns fields"],
      [() => factory(db.users, { defaults, sequence: 0.5 } as never), "a whole number"],
      [() => factory(db.posts, { defaults, parents: { autor: users } } as never), '"author"?'],
      [() => factory(db.users, { defaults, parents: { posts: users } } as never), "no relations"],
      [() => factory(db.posts, { defaults, parents: { author: {} } } as never), "be a factory"],
      [() => users.with("admn" as never), 'did you mean "admin"?'],
    ];
    for (const [refused, message] of refusals) expect(refused).toThrow(message);
    await expect(users.createMany(-1)).rejects.toThrow("a whole number from 0");
  });

  it("has types that refuse misuse", async () => {
    await using db = await opened();
    const { users, posts } = factories(db);
    // Never called: only their types matter.
    const misuse = [
      // @ts-expect-error there is no such field
      () => factory(db.users, { defaults: () => ({ nam: "Ada" }) }),
      // @ts-expect-error a name is a text
      () => factory(db.users, { defaults: () => ({ name: 1 }) }),
      // @ts-expect-error the relation leads to users
      () => factory(db.posts, { defaults: () => ({}), parents: { author: posts } }),
      // @ts-expect-error there is no such relation
      () => factory(db.posts, { defaults: () => ({}), parents: { writer: users } }),
      // @ts-expect-error there is no such role
      () => factory(db.users, { defaults: () => ({}), traits: { boss: { role: "boss" } } }),
      // @ts-expect-error there is no such trait
      () => users.with("boss"),
      // @ts-expect-error there is no such field
      () => users.create({ nam: "Ada" }),
      // @ts-expect-error the factory has no default for the email
      () => factory(db.users, { defaults: () => ({ name: "Ada" }) }).create(),
      // @ts-expect-error the author is neither given nor created
      () => factory(db.posts, { defaults: () => ({ id: 1, title: "x" }) }).createMany(2),
    ];
    expect(misuse).toHaveLength(9);
    const partial = factory(db.users, { defaults: () => ({ name: "Ada" }) });
    expect((await partial.create({ email: "a@example.com" })).email).toBe("a@example.com");
    const title: string = posts.build().title;
    // @ts-expect-error the reference may be missing
    const authorId: string = posts.build().authorId;
    expect([title, authorId]).toEqual(["Post 1", undefined]);
  });
});
