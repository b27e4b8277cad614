import { type EmbeddedKv, type Kv, type KvKey, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, type Database, defineModel, hasMany } from "../src/index.js";
import { blogModels } from "./blog-models.js";
import { withoutViews } from "./faulty-kv.js";
import { Reports } from "./live-reports.js";
import { rejection } from "./user-model.js";

/** A database that calls `interfere` before it reads keys that begin with a part. */
function beforeReading(kv: Kv, first: string, interfere: () => Promise<void>): Kv {
  const before = async (keys: readonly KvKey[]) => {
    if (keys.some((key) => key[0] === first)) await interfere();
  };
  return new Proxy(withoutViews(kv), {
    get(target, property) {
      if (property === "get") {
        return async (key: KvKey) => {
          await before([key]);
          return await target.get(key);
        };
      }
      if (property === "getMany") {
        return async (keys: readonly KvKey[]) => {
          await before(keys);
          return await target.getMany<unknown[]>(keys);
        };
      }
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

let kv: EmbeddedKv;
/** Undisturbed. */
let db: Database<typeof blogModels>;
/** What others do the next time when users are read. */
let others: (() => Promise<unknown>) | undefined;
let disturbed: Database<typeof blogModels>;

beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models: blogModels });
  others = undefined;
  const wrapped = beforeReading(kv, "users", async () => {
    const now = others;
    others = undefined;
    await now?.();
  });
  disturbed = await createDatabase({ kv: wrapped, models: blogModels });
  for (const [id, name] of Object.entries({ a: "Ada", b: "Bob" })) {
    await db.users.create({ data: { id, name } });
  }
  await db.posts.create({ data: { id: "p1", authorId: "a", title: "One" } });
  await db.posts.create({ data: { id: "p2", authorId: "b", title: "Two" } });
});
afterEach(() => kv.close());

/** Deletes a user and the posts that go with it. */
const deleteUser = (id: string) => () => db.users.delete({ where: { id } });
const include = { author: true } as const;

describe("a write with include, whose rows are deleted once it stands", () => {
  /** After the write, by a hook of it: then the relations are loaded. */
  async function opened(): Promise<Database<typeof blogModels>> {
    const arm = () => {
      others = deleteUser("a");
    };
    const hooks = { posts: { afterCreate: arm, afterUpdate: arm, afterDelete: arm } };
    const wrapped = beforeReading(kv, "users", async () => {
      const now = others;
      others = undefined;
      await now?.();
    });
    return await createDatabase({ kv: wrapped, models: blogModels, hooks });
  }
  const data = { id: "p3", authorId: "a", title: "New" };
  const where = { id: "p1" };

  it.each<[string, (on: Database<typeof blogModels>) => Promise<unknown>, object]>([
    ["create", (on) => on.posts.create({ data, include }), { id: "p3" }],
    [
      "update",
      (on) => on.posts.update({ where, data: { title: "New" }, include }),
      { id: "p1", title: "New" },
    ],
    [
      "upsert that changes",
      (on) => on.posts.upsert({ where, create: data, update: { title: "New" }, include }),
      { id: "p1", title: "New" },
    ],
    [
      "upsert that creates",
      (on) => on.posts.upsert({ where: { id: "p3" }, create: data, update: {}, include }),
      { id: "p3" },
    ],
  ])("gives its row, and null for what it refers to: %s", async (_, write, row) => {
    expect(await write(await opened())).toMatchObject({ ...row, author: null });
    expect(await db.posts.findMany({ where: { authorId: "a" } })).toMatchObject({ items: [] });
  });

  it.each<[string, (on: Database<typeof blogModels>) => Promise<unknown>, number]>([
    [
      "createMany",
      (on) => on.posts.createMany({ data: [data, { ...data, id: "p4", authorId: "b" }], include }),
      2,
    ],
    [
      "updateMany",
      (on) => on.posts.updateMany({ filter: () => true, data: { title: "New" }, include }),
      2,
    ],
    ["deleteMany", (on) => on.posts.deleteMany({ filter: () => true, include }), 2],
  ])("gives each row, with what can be had of the rest: %s", async (_, write, count) => {
    expect(await write(await opened())).toMatchObject({
      count,
      results: [
        { ok: true, row: { authorId: "a", author: null } },
        { ok: true, row: { authorId: "b", author: { name: "Bob" } } },
      ],
    });
  });

  it("is told apart from a delete that cannot be made: the row has gone", async () => {
    others = deleteUser("a");
    const deleted = disturbed.posts.delete({ where, include });
    expect((await rejection(deleted)).code).toBe("KW_ROW_NOT_FOUND");
  });
});

it("a stream with include continues where rows of it are deleted with what they refer to", async () => {
  others = deleteUser("a");
  const posts: unknown[] = [];
  for await (const post of disturbed.posts.findMany({ orderBy: { id: "asc" }, include })) {
    posts.push(post);
  }
  expect(posts).toMatchObject([{ id: "p2", author: { id: "b" } }]);
});

it("such a stream leaves out a row that no longer fits, and has what a row has become", async () => {
  const query = { where: { authorId: { in: ["a", "b"] } }, include } as const;
  others = async () => {
    await db.users.create({ data: { id: "c", name: "Cyd" } });
    await db.posts.update({ where: { id: "p1" }, data: { authorId: "c" } });
    await db.posts.update({ where: { id: "p2" }, data: { title: "Changed" } });
    await db.users.delete({ where: { id: "a" } });
  };
  const posts: unknown[] = [];
  for await (const post of disturbed.posts.findMany(query)) posts.push(post);
  expect(posts).toMatchObject([{ id: "p2", title: "Changed", author: { id: "b" } }]);
});

it("such a stream with withDeleted keeps rows that are marked as deleted", async () => {
  const models = {
    writers: defineModel({
      name: "writers",
      schema: z.object({ id: z.string() }),
      primaryKey: "id",
      relations: { notes: hasMany("notes", "writerId") },
    }),
    notes: defineModel({
      name: "notes",
      schema: z.object({
        id: z.string(),
        writerId: z.string(),
        deletedAt: z.date().nullable().default(null),
      }),
      primaryKey: "id",
      softDelete: "deletedAt",
      indexes: { byWriter: { key: "writerId" } },
      relations: { writer: belongsTo("writers", "writerId") },
    }),
  };
  const plain = await createDatabase({ kv, models });
  await plain.writers.createMany({ data: [{ id: "a" }, { id: "b" }] });
  await plain.notes.create({ data: { id: "n1", writerId: "a" } });
  await plain.notes.create({ data: { id: "n2", writerId: "b" } });
  await plain.notes.delete({ where: { id: "n2" } });

  let interfere = true;
  const wrapped = beforeReading(kv, "writers", async () => {
    if (!interfere) return;
    interfere = false;
    await plain.notes.update({ where: { id: "n1" }, data: { writerId: "b" } });
    await plain.writers.delete({ where: { id: "a" } });
  });
  const { notes } = await createDatabase({ kv: wrapped, models });
  const found: unknown[] = [];
  for await (const note of notes.scan({ withDeleted: true, include: { writer: true } })) {
    found.push(note);
  }
  expect(found).toMatchObject([
    { id: "n1", writer: { id: "b" } },
    { id: "n2", deletedAt: expect.any(Date), writer: { id: "b" } },
  ]);
});

describe("a live query with include outlives the deletion of a row with what it refers to", () => {
  it("as the result of a query", async () => {
    const reports = new Reports(disturbed.posts.watchMany({ orderBy: { id: "asc" }, include }));
    others = deleteUser("a");
    expect(await reports.next()).toMatchObject([{ id: "p2" }]);
    await reports.cancel();
  });

  it("as one row", async () => {
    const reports = new Reports(disturbed.posts.watch({ where: { id: "p1" }, include }));
    others = deleteUser("a");
    expect(await reports.next()).toBeNull();
    await reports.cancel();
  });
});

it("an included row that has one of its entries all the time is found while it loses another", async () => {
  const Shelf = defineModel({
    name: "shelves",
    schema: z.object({ id: z.string() }),
    primaryKey: "id",
    relations: { books: hasMany("books", "shelfId") },
  });
  const Book = defineModel({
    name: "books",
    schema: z.object({ id: z.string(), shelfId: z.string(), tags: z.array(z.string()) }),
    primaryKey: "id",
    indexes: { byTag: { key: ["shelfId", "tags"], each: true }, byShelf: { key: "shelfId" } },
  });
  const models = { shelves: Shelf, books: Book };
  const plain = await createDatabase({ kv, models });
  await plain.shelves.create({ data: { id: "s" } });
  await plain.books.create({ data: { id: "b", shelfId: "s", tags: ["x", "y"] } });
  let isFirst = true;
  const wrapped = beforeReading(kv, "books", async () => {
    if (!isFirst) return;
    isFirst = false;
    await plain.books.update({ where: { id: "b" }, data: { tags: ["y"] } });
  });
  const library = await createDatabase({ kv: wrapped, models });
  const books = { where: { tags: { has: { in: ["x", "y"] } } } } as const;
  const query = { where: { id: "s" }, include: { books } } as const;
  expect((await library.shelves.findUnique(query))?.books).toEqual([
    { id: "b", shelfId: "s", tags: ["y"] },
  ]);
  await plain.books.update({ where: { id: "b" }, data: { tags: ["x", "y"] } });
  expect((await library.shelves.findUnique(query))?.books).toHaveLength(1);
});
