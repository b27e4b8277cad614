import { type EmbeddedKv, type Kv, type KvKey, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  type Database,
  defineMigration,
  defineModel,
} from "../src/index.js";
import { type DanglingReference, findDanglingReferences } from "../src/migrate.js";
import { blogModels } from "./blog-models.js";
import { denoKv, withoutPages } from "./faulty-kv.js";
import { rejection } from "./user-model.js";

let kv: EmbeddedKv;
let db: Database<typeof blogModels>;

beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models: blogModels });
});
afterEach(() => kv.close());

const noAuthor = (id: string, authorId: string): DanglingReference => ({
  model: "posts",
  id,
  relation: "author",
  fields: ["authorId"],
  target: "users",
  targetId: authorId,
});

/** Posts as they are written by hand. */
async function writePosts(count: number, authorOf: (i: number) => string): Promise<void> {
  for (let i = 0; i < count; i++) {
    const id = `p${String(i).padStart(4, "0")}`;
    await kv.set(["posts", id], { id, authorId: authorOf(i), title: "", rank: 0 });
  }
}

it("finds nothing where all references lead to rows, are absent, or lead to the row itself", async () => {
  await db.users.create({ data: { id: "a", name: "Ada", bossId: "a" } });
  await db.users.create({ data: { id: "b", name: "Bob" } });
  await kv.set(["users", "c"], { id: "c", name: "Cyd" });
  await db.posts.create({ data: { id: "p", authorId: "a", title: "" } });
  await db.comments.create({ data: { id: "c", postId: "p" } });
  for (const [model, rows] of [
    ["users", 3],
    ["posts", 1],
    ["comments", 1],
    ["tags", 0],
  ] as const) {
    expect(await findDanglingReferences(db, { model })).toEqual({ items: [], rows, cursor: null });
  }
});

it("finds what is left by a program without the model that refers to a row", async () => {
  await db.users.create({ data: { id: "a", name: "Ada" } });
  await db.users.create({ data: { id: "b", name: "Bob" } });
  await db.posts.create({ data: { id: "p", authorId: "a", title: "" } });
  await db.posts.create({ data: { id: "q", authorId: "b", title: "" } });
  const { users } = blogModels;
  const { posts: _, comments: __, profile: ___, ...relations } = users.relations;
  const alone = await createDatabase({
    kv,
    models: { users: defineModel({ ...users, relations }) },
  });
  await alone.users.delete({ where: { id: "a" } });
  const { items } = await findDanglingReferences(db, { model: "posts" });
  expect(items).toEqual([noAuthor("p", "a")]);
  await db.users.create({ data: { id: "a", name: "Ada" } });
  expect((await findDanglingReferences(db, { model: "posts" })).items).toEqual([]);
});

it("finds a reference of a row to another of its model", async () => {
  await kv.set(["users", "a"], { id: "a", name: "Ada", bossId: "b" });
  const { items } = await findDanglingReferences(db, { model: "users" });
  expect(items).toMatchObject([{ id: "a", relation: "boss", target: "users", targetId: "b" }]);
});

it("finds each reference of a row whose primary key has several fields, and on one page", async () => {
  await kv.set(["post_tags", "p", "t"], { postId: "p", tagId: "t" });
  await db.tags.create({ data: { id: "u" } });
  await kv.set(["post_tags", "p", "u"], { postId: "p", tagId: "u" });
  const first = await findDanglingReferences(db, { model: "post_tags", take: 1 });
  expect(first.items).toMatchObject([
    { id: ["p", "t"], relation: "post", target: "posts", targetId: "p" },
    { id: ["p", "t"], relation: "tag", target: "tags", targetId: "t" },
  ]);
  expect(first.rows).toBe(1);
  const { cursor } = first;
  expect(await findDanglingReferences(db, { model: "post_tags", take: 1, cursor })).toMatchObject({
    items: [{ id: ["p", "u"], relation: "post" }],
    rows: 1,
    cursor: null,
  });
});

it("finds references to a primary key of several fields, of several kinds", async () => {
  const Seat = defineModel({
    name: "seats",
    schema: z.object({ day: z.date(), number: z.int() }),
    primaryKey: ["day", "number"],
  });
  const Ticket = defineModel({
    name: "tickets",
    schema: z.object({ id: z.bigint(), day: z.date().nullable(), number: z.int() }),
    primaryKey: "id",
    indexes: { bySeat: { key: ["day", "number"] } },
    relations: { seat: belongsTo("seats", ["day", "number"], { onDelete: "restrict" }) },
  });
  const own = await createDatabase({ kv, models: { seats: Seat, tickets: Ticket } });
  const day = new Date(0);
  await own.seats.create({ data: { day, number: 1 } });
  await own.tickets.create({ data: { id: 1n, day, number: 1 } });
  await own.tickets.create({ data: { id: 2n, day: null, number: 2 } });
  await kv.set(["tickets", 3n], { id: 3n, day, number: 2 });
  const { items } = await findDanglingReferences(own, { model: "tickets" });
  expect(items).toEqual([
    {
      model: "tickets",
      id: 3n,
      relation: "seat",
      fields: ["day", "number"],
      target: "seats",
      targetId: [0, 2],
    },
  ]);
});

it("goes through all rows in their order, page by page, whatever the pages' length", async () => {
  await db.users.create({ data: { id: "a", name: "Ada" } });
  await writePosts(1203, (i) => (i % 3 === 0 ? `nobody ${i % 2}` : "a"));
  for (const options of [{}, { take: 7 }, { take: 7, rows: 50 }, { rows: 3 }, { take: 1000 }]) {
    const ids: unknown[] = [];
    let rows = 0;
    let cursor: string | null | undefined;
    do {
      const page = await findDanglingReferences(db, { model: "posts", ...options, cursor });
      expect(page.items.length).toBeLessThanOrEqual(options.take ?? 100);
      expect(page.rows).toBeLessThanOrEqual(options.rows ?? 1000);
      ids.push(...page.items.map(({ id }) => id));
      rows += page.rows;
      cursor = page.cursor;
    } while (cursor !== null);
    expect(ids).toEqual(
      Array.from({ length: 401 }, (_, i) => `p${String(i * 3).padStart(4, "0")}`),
    );
    expect(rows).toBe(1203);
  }
});

it("takes no more keys at once than the database does, and reads each row that is referred to once", async () => {
  await writePosts(60, (i) => `u${i % 30}`);
  for (let i = 0; i < 29; i++) await db.users.create({ data: { id: `u${i}`, name: "" } });
  const read: KvKey[] = [];
  const counted = withGetMany(denoKv(kv), async (keys) => void read.push(...keys));
  const own = await createDatabase({ kv: counted, models: blogModels });
  const { items } = await findDanglingReferences(own, { model: "posts" });
  expect(items).toEqual([noAuthor("p0029", "u29"), noAuthor("p0059", "u29")]);
  const users = read.filter(([prefix]) => prefix === "users");
  expect(users).toHaveLength(30 + 2);
});

it("does not report what is put right between its two looks", async () => {
  await db.users.create({ data: { id: "a", name: "Ada" } });
  await writePosts(5, (i) => `nobody ${i}`);
  let looks = 0;
  const changing = withGetMany(kv, async () => {
    if (++looks !== 2) return;
    await kv.delete(["posts", "p0000"]);
    await kv.set(["users", "nobody 1"], { id: "nobody 1", name: "Ned" });
    await kv.set(["posts", "p0002"], { id: "p0002", authorId: "a", title: "", rank: 0 });
    await kv.set(["posts", "p0003"], { id: "p0003", authorId: "none", title: "", rank: 0 });
  });
  const own = await createDatabase({ kv: changing, models: blogModels });
  const { items } = await findDanglingReferences(own, { model: "posts" });
  expect(items).toEqual([noAuthor("p0003", "none"), noAuthor("p0004", "nobody 4")]);
});

it("takes rows of an earlier schema for what they become", async () => {
  const users = defineModel({
    name: "users",
    schema: z.object({ id: z.string() }),
    primaryKey: "id",
  });
  const from = z.object({ id: z.string(), writer: z.string() });
  const Old = defineModel({ name: "posts", schema: from, primaryKey: "id" });
  const New = defineModel({
    name: "posts",
    schema: z.object({ id: z.string(), authorId: z.string() }),
    primaryKey: "id",
    indexes: { byAuthor: { key: "authorId" } },
    relations: { author: belongsTo("users", "authorId", { onDelete: "restrict" }) },
  });
  const rename = defineMigration({
    model: New,
    from,
    to: New.schema,
    up: ({ writer, ...row }) => {
      if (writer === "unknown") throw new Error("it has no author");
      return { ...row, authorId: writer };
    },
  });
  await using fresh = await openKv();
  const old = await createDatabase({ kv: fresh, models: { users, posts: Old } });
  await old.users.create({ data: { id: "a" } });
  await old.posts.create({ data: { id: "p", writer: "a" } });
  await old.posts.create({ data: { id: "q", writer: "b" } });
  await old.posts.create({ data: { id: "r", writer: "unknown" } });
  const models = { users, posts: New };
  const own = await createDatabase({ kv: fresh, models, migrations: [rename] });
  const page = await findDanglingReferences(own, { model: "posts" });
  expect(page).toEqual({ items: [noAuthor("q", "b")], rows: 3, cursor: null });
});

it.each([
  ["tells when entries expire", (on: Kv) => on],
  ["does not", denoKv],
])("rows whose time is over are not there, on a database that %s", async (_, wrap) => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_800_000_000_000 });
  try {
    const own = await createDatabase({ kv: wrap(kv), models: blogModels });
    await own.users.create({ data: { id: "a", name: "Ada" }, expireIn: 1000 });
    await own.users.create({ data: { id: "b", name: "Bob" }, expireIn: 5000 });
    await own.posts.create({ data: { id: "p", authorId: "a", title: "" } });
    await own.posts.create({ data: { id: "q", authorId: "a", title: "" }, expireIn: 1000 });
    await own.posts.create({ data: { id: "r", authorId: "b", title: "" } });
    expect((await findDanglingReferences(own, { model: "posts" })).items).toEqual([]);
    vi.setSystemTime(Date.now() + 1000);
    const { items } = await findDanglingReferences(own, { model: "posts" });
    expect(items).toEqual([noAuthor("p", "a")]);
  } finally {
    vi.useRealTimers();
  }
});

it("a row whose time is over, and that the database has not cleared up, is not there", async () => {
  const silent = denoKv(kv);
  const own = await createDatabase({ kv: silent, models: blogModels });
  await own.users.create({ data: { id: "a", name: "Ada" }, expireIn: 60_000 });
  await own.posts.create({ data: { id: "p", authorId: "a", title: "" } });
  await own.posts.create({ data: { id: "q", authorId: "a", title: "" }, expireIn: 60_000 });
  // As a database has it that clears up late.
  for (const key of [
    ["users", "a"],
    ["posts", "q"],
  ]) {
    await kv.set(["__keywright", "expiry", ...key], Date.now() - 1);
  }
  const { items } = await findDanglingReferences(own, { model: "posts" });
  expect(items).toEqual([noAuthor("p", "a")]);
});

it("references that no key can hold lead to nothing, and what is no row refers to nothing", async () => {
  await kv.set(["posts", "a"], { id: "a", authorId: "x".repeat(3000), title: "" });
  await kv.set(["posts", "b"], { id: "b", authorId: "\ud800", title: "" });
  await kv.set(["posts", "c"], "no row");
  await kv.set(["posts", "d", "longer"], { id: "d", authorId: "nobody" });
  await kv.set(["posts", "e"], { id: "e", authorId: { no: "key" } });
  const { items, rows } = await findDanglingReferences(db, { model: "posts" });
  expect(items.map(({ id }) => id)).toEqual(["a", "b"]);
  expect(rows).toBe(5);
});

it("refuses pages that cannot be, and models that there are not", async () => {
  for (const options of [{ take: 0 }, { rows: 1.5 }, { take: Number.NaN }]) {
    const found = rejection(findDanglingReferences(db, { model: "posts", ...options }));
    expect(await found).toMatchObject({ code: "KW_ARGUMENT_INVALID" });
  }
  const none = findDanglingReferences(db, { model: "nothing" });
  expect(await rejection(none)).toMatchObject({ code: "KW_MODEL_INVALID" });
  const wrong = findDanglingReferences(db, { model: "posts", cursor: "no cursor" });
  expect(await rejection(wrong)).toMatchObject({ code: "KW_CURSOR_INVALID" });
});

/** A database that calls a function before it reads keys. */
function withGetMany(kv: Kv, before: (keys: readonly KvKey[]) => Promise<void>): Kv {
  return new Proxy(withoutPages(kv), {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== "function") return member;
      if (property !== "getMany") return member.bind(target);
      return async (keys: readonly KvKey[], ...rest: unknown[]) => {
        await before(keys);
        return await member.call(target, keys, ...rest);
      };
    },
  });
}
