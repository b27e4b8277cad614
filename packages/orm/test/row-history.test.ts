import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  belongsTo,
  createDatabase,
  defineMigration,
  defineModel,
  hasMany,
  migrate,
} from "../src/index.js";
import { countingKv } from "./counting-kv.js";
import { denoKv } from "./faulty-kv.js";

const User = defineModel({
  name: "users",
  schema: z.object({
    id: z.string(),
    tenant: z.string(),
    email: z.string(),
    deletedAt: z.date().nullable().default(null),
  }),
  primaryKey: "id",
  softDelete: "deletedAt",
  indexes: { byEmail: { key: ["tenant", "email"], unique: true } },
  relations: { posts: hasMany("posts", "authorId") },
});
const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), authorId: z.string(), n: z.number().default(0) }),
  primaryKey: "id",
  indexes: { byAuthor: { key: "authorId" } },
  relations: { author: belongsTo("users", "authorId") },
});
const models = { users: User, posts: Post };
const ada = { id: "1", tenant: "a", email: "ada" };

let kv: EmbeddedKv;

beforeEach(async () => {
  kv = await openKv(":memory:", { log: { keep: "7 days" } });
});

afterEach(() => kv.close());

const openModels = () => createDatabase({ kv, models });

async function all<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of iterable) items.push(item);
  return items;
}

describe("changes", () => {
  it("has each change of a row with the row before and after, in the order of commits", async () => {
    const db = await openModels();
    const said = db.withContext({ actor: "ada" });
    const created = await said.users.create({ data: ada });
    await db.posts.create({ data: { id: "p", authorId: "1" } });
    const updated = await db.users.update({ where: { id: "1" }, data: { email: "a@b" } });
    await db.posts.delete({ where: { id: "p" } });
    const marked = await db.users.delete({ where: { id: "1" } });
    await db.users.purge({ where: { id: "1" } });
    const commits = await all(db.users.changes({ live: false }));
    expect(commits.map(({ changes }) => changes)).toEqual([
      [{ type: "create", key: { id: "1" }, before: null, after: created }],
      [{ type: "update", key: { id: "1" }, before: created, after: updated }],
      [
        {
          type: "update",
          key: { id: "1" },
          before: updated,
          after: { ...updated, deletedAt: expect.any(Date) },
        },
      ],
      [{ type: "delete", key: { id: "1" }, before: expect.anything(), after: null }],
    ]);
    expect(marked.id).toBe("1");
    expect(commits.map(({ context }) => context)).toEqual([
      { actor: "ada" },
      undefined,
      undefined,
      undefined,
    ]);
    expect(commits[0]!.time).toBeInstanceOf(Date);
    const rest = await all(db.users.changes({ after: commits[1]!.versionstamp, live: false }));
    expect(rest).toEqual(commits.slice(2));
  });

  it("sees only rows of the scope and those that meet the conditions", async () => {
    const db = await openModels();
    await db.users.create({ data: ada });
    await db.users.create({ data: { id: "2", tenant: "b", email: "bob" } });
    await db.users.update({ where: { id: "1" }, data: { tenant: "b" } });
    await db.users.update({ where: { id: "1" }, data: { email: "x" } });
    await db.users.update({ where: { id: "1" }, data: { tenant: "a" } });
    const types = async (
      of: AsyncIterable<{ changes: readonly { type: string; key: object }[] }>,
    ) => (await all(of)).flatMap(({ changes }) => changes.map(({ type, key }) => [type, key]));
    const one = { id: "1" };
    const expected = [
      ["create", one],
      ["delete", one],
      ["create", one],
    ];
    expect(await types(db.scope({ tenant: "a" }).users.changes({ live: false }))).toEqual(expected);
    expect(await types(db.users.changes({ where: { tenant: "a" }, live: false }))).toEqual(
      expected,
    );
    const filter = ({ tenant }: { tenant: string }) => tenant === "a";
    expect(await types(db.users.changes({ filter, live: false }))).toEqual(expected);
    const [, left] = await all(db.users.changes({ where: { tenant: "a" }, live: false }));
    expect(left!.changes[0]).toMatchObject({ before: ada, after: null });
  });

  it("is followed, and ends with its signal", async () => {
    const db = await openModels();
    const ending = new AbortController();
    const changes = db.users.changes({ signal: ending.signal });
    const first = changes.next();
    await db.posts.createMany({ data: [] });
    await db.users.create({ data: ada });
    expect((await first).value?.changes).toHaveLength(1);
    const next = changes.next();
    ending.abort(new Error("enough"));
    await expect(next).rejects.toThrow("enough");
  });

  it("is refused where there is no log", async () => {
    await using plain = await openKv(":memory:");
    const db = await createDatabase({ kv: plain, models });
    await expect(all(db.users.changes({ live: false }))).rejects.toMatchObject({
      code: "KW_LOG_OFF",
    });
    await expect(db.at(new Date(), async () => 1)).rejects.toMatchObject({ code: "KW_LOG_OFF" });
    const deno = await createDatabase({ kv: denoKv(await openKv(":memory:")), models });
    await expect(all(deno.users.changes({ live: false }))).rejects.toMatchObject({
      code: "KW_LOG_UNAVAILABLE",
      operation: "changes",
    });
    await expect(deno.users.history({ where: { id: "1" } })).rejects.toMatchObject({
      code: "KW_LOG_UNAVAILABLE",
    });
    await expect(deno.at(new Date(), async () => 1)).rejects.toMatchObject({
      code: "KW_LOG_UNAVAILABLE",
    });
    const logged = await openModels();
    const inside = logged.transaction(async (tx) => await tx.users.history({ where: { id: "1" } }));
    await expect(inside).rejects.toThrow(/transaction cannot read the log/);
  });
});

describe("history", () => {
  it("has the versions of a row, newest first, in pages", async () => {
    const db = await openModels();
    const stamps: string[] = [];
    await db.users.create({ data: ada });
    for (const email of ["b", "c", "d"]) {
      const by = db.withContext(email);
      await by.users.update({ where: { id: "1" }, data: { email } });
      await db.users.create({ data: { id: email, tenant: "t", email } });
    }
    for (const { versionstamp } of (await db.users.history({ where: { id: "1" } })).items)
      stamps.push(versionstamp);
    const { items, cursor } = await db.users.history({ where: { id: "1" } });
    expect(cursor).toBeNull();
    expect(items.map(({ row, context }) => [row?.email, context])).toEqual([
      ["d", "d"],
      ["c", "c"],
      ["b", "b"],
      ["ada", undefined],
    ]);
    expect([...stamps].sort().reverse()).toEqual(stamps);
    const pages: unknown[] = [];
    for (let next: string | null | undefined; next !== null; ) {
      const page = await db.users.history({ where: { id: "1" }, take: 3, cursor: next });
      pages.push(...page.items);
      next = page.cursor;
    }
    expect(pages).toEqual(items);
    await expect(db.users.history({ where: { id: "1" }, cursor: "x" })).rejects.toMatchObject({
      code: "KW_CURSOR_INVALID",
    });
    const where = { email: "d", tenant: "a" } as never;
    await expect(db.users.history({ where })).rejects.toMatchObject({
      code: "KW_ARGUMENT_INVALID",
      argument: "where",
    });
  });

  it("of a deleted row is found by reading the log, a part at a time if asked", async () => {
    const db = await openModels();
    await db.users.create({ data: ada });
    await db.posts.create({ data: { id: "p", authorId: "1" } });
    await db.posts.update({ where: { id: "p" }, data: { n: 1 } });
    await db.posts.delete({ where: { id: "p" } });
    for (let n = 0; n < 9; n++) await db.posts.create({ data: { id: `${n}`, authorId: "1" } });
    const whole = await db.posts.history({ where: { id: "p" } });
    expect(whole.items.map(({ row }) => row?.n)).toEqual([undefined, 1, 0]);
    expect(whole.items[0]!.row).toBeNull();
    const short = await db.posts.history({ where: { id: "p" }, maxScan: 4 });
    expect(short.items).toEqual([]);
    const { cursor } = await db.posts.history({
      where: { id: "p" },
      maxScan: 4,
      cursor: short.cursor,
    });
    const rest = await db.posts.history({ where: { id: "p" }, maxScan: 4, cursor });
    expect(rest.items).toEqual(whole.items);
    await db.posts.create({ data: { id: "p", authorId: "1", n: 7 } });
    expect((await db.posts.history({ where: { id: "p" } })).items).toHaveLength(1);
    const lives = await db.posts.history({ where: { id: "p" }, maxScan: 100 });
    expect(lives.items.map(({ row }) => row?.n)).toEqual([7, undefined, 1, 0]);
    expect(await db.posts.history({ where: { id: "never" } })).toEqual({ items: [], cursor: null });
  });

  it("ends with a version of before the log, which has no time", async () => {
    const folder = await mkdtemp(join(tmpdir(), "keywright-history-"));
    try {
      const plain = await openKv(folder);
      const before = await createDatabase({ kv: plain, models });
      await before.users.create({ data: ada });
      await plain.close();
      await using logged = await openKv(folder, { log: {} });
      const db = await createDatabase({ kv: logged, models });
      await db.users.update({ where: { id: "1" }, data: { email: "b" } });
      const { items, cursor } = await db.users.history({ where: { id: "1" } });
      expect(items.map(({ row, time }) => [row?.email, time === null])).toEqual([
        ["b", false],
        ["ada", true],
      ]);
      expect(cursor).toBeNull();
      const { versionstamp } = items[1]!;
      const restoring = db.users.restoreRow({ where: { id: "1" }, versionstamp });
      await expect(restoring).rejects.toMatchObject({
        code: "KW_ROW_VERSION_NOT_FOUND",
        reason: "notLogged",
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("sees only the versions of the scope", async () => {
    const db = await openModels();
    await db.users.create({ data: ada });
    await db.users.update({ where: { id: "1" }, data: { tenant: "b", email: "secret" } });
    await db.users.update({ where: { id: "1" }, data: { tenant: "a", email: "open" } });
    const { items } = await db.scope({ tenant: "a" }).users.history({ where: { id: "1" } });
    expect(items.map(({ row }) => row?.email)).toEqual(["open", "ada"]);
    expect((await db.scope({ tenant: "c" }).users.history({ where: { id: "1" } })).items).toEqual(
      [],
    );
  });
});

describe("restoreRow", () => {
  it("writes an old version as a new one, and creates a deleted row again", async () => {
    const db = await openModels();
    await db.users.create({ data: ada });
    await db.users.update({ where: { id: "1" }, data: { email: "b" } });
    const { items } = await db.users.history({ where: { id: "1" } });
    const { versionstamp } = items[1]!;
    const where = { id: "1" };
    const before = await db.users.findUnique({ where });
    const stale = db.users.restoreRow({ where, versionstamp, ifVersion: versionstamp });
    await expect(stale).rejects.toMatchObject({ code: "KW_VERSION_CONFLICT" });
    expect(await db.users.findUnique({ where })).toEqual(before);
    const row = await db.withContext("undo").users.restoreRow({ where, versionstamp });
    expect(row).toEqual({ ...ada, deletedAt: null });
    expect(await db.users.findUnique({ where: { tenant: "a", email: "ada" } })).toEqual(row);
    expect(await db.users.findUnique({ where: { tenant: "a", email: "b" } })).toBeNull();
    expect((await db.users.history({ where })).items[0]!.context).toBe("undo");
    await db.users.delete({ where });
    const marked = (await db.users.history({ where })).items[0]!.versionstamp;
    await expect(db.users.restoreRow({ where, versionstamp: marked })).rejects.toMatchObject({
      code: "KW_ROW_INVALID",
    });
    await db.users.restoreRow({ where, versionstamp });
    expect(await db.users.findUnique({ where })).toEqual(row);
    await db.users.delete({ where });
    await db.users.purge({ where });
    await db.users.restoreRow({ where, versionstamp });
    expect(await db.users.findUnique({ where })).toEqual(row);
  });

  it("is checked like a new row", async () => {
    const db = await openModels();
    await db.users.create({ data: ada });
    const where = { id: "1" };
    const { versionstamp } = (await db.users.history({ where })).items[0]!;
    await db.users.update({ where, data: { email: "b" } });
    await db.users.create({ data: { id: "2", tenant: "a", email: "ada" } });
    await expect(db.users.restoreRow({ where, versionstamp })).rejects.toMatchObject({
      code: "KW_UNIQUE_CONSTRAINT",
      index: "byEmail",
    });
    await db.posts.create({ data: { id: "p", authorId: "2" } });
    const post = (await db.posts.history({ where: { id: "p" } })).items[0]!;
    await db.posts.delete({ where: { id: "p" } });
    await db.users.delete({ where: { id: "2" } });
    await db.users.purge({ where: { id: "2" } });
    const restoring = db.posts.restoreRow({
      where: { id: "p" },
      versionstamp: post.versionstamp,
    });
    await expect(restoring).rejects.toMatchObject({ code: "KW_REFERENCE_MISSING" });
    const missing = db.users.restoreRow({ where, versionstamp: "0".repeat(20) });
    await expect(missing).rejects.toMatchObject({ code: "KW_ROW_VERSION_NOT_FOUND" });
    await expect(missing).rejects.toMatchObject({ reason: "notLogged" });
    const other = db.scope({ tenant: "b" }).users.restoreRow({ where, versionstamp });
    await expect(other).rejects.toMatchObject({
      code: "KW_ROW_VERSION_NOT_FOUND",
      reason: "otherRow",
    });
  });

  it("tries once if the row is in another scope by now", async () => {
    const counted = countingKv(kv);
    const db = await createDatabase({ kv: counted.kv, models });
    await db.users.create({ data: ada });
    const where = { id: "1" };
    const { versionstamp } = (await db.users.history({ where })).items[0]!;
    await db.users.update({ where, data: { tenant: "b" } });
    counted.calls.commit = 0;
    const restoring = db.scope({ tenant: "a" }).users.restoreRow({ where, versionstamp });
    await expect(restoring).rejects.toMatchObject({
      code: "KW_UNIQUE_CONSTRAINT",
      index: "primaryKey",
    });
    expect(counted.calls.commit).toBe(1);
  });
});

describe("rows of an earlier schema", () => {
  const V1 = defineModel({
    name: "notes",
    schema: z.object({ id: z.string(), text: z.string() }),
    primaryKey: "id",
  });
  const V2 = defineModel({
    name: "notes",
    schema: z.object({ id: z.string(), words: z.array(z.string()) }),
    primaryKey: "id",
  });
  const split = defineMigration({
    model: V2,
    name: "split",
    from: V1.schema,
    to: V2.schema,
    up: ({ id, text }) => ({ id, words: text.split(" ") }),
  });

  it("are returned by the present schema, in changes, history and an earlier state", async () => {
    const old = await createDatabase({ kv, models: { notes: V1 } });
    await old.notes.create({ data: { id: "1", text: "a b" } });
    await old.notes.update({ where: { id: "1" }, data: { text: "a b c" } });
    await old.notes.create({ data: { id: "2", text: "gone" } });
    const { versionstamp } = await kv.get(["notes", "2"]);
    await old.notes.delete({ where: { id: "2" } });
    const db = await createDatabase({ kv, models: { notes: V2 }, migrations: [split] });
    await migrate(db);
    await db.notes.update({ where: { id: "1" }, data: { words: ["new"] } });
    const { items } = await db.notes.history({ where: { id: "1" } });
    const words = items.map(({ row }) => row?.words);
    expect(words[0]).toEqual(["new"]);
    expect(words.slice(-2)).toEqual([
      ["a", "b", "c"],
      ["a", "b"],
    ]);
    for (const each of words) expect(each).toBeInstanceOf(Array);
    const rows = (await all(db.notes.changes({ live: false }))).flatMap(({ changes }) => changes);
    for (const { before, after } of rows)
      for (const row of [before, after]) if (row !== null) expect(row.words).toBeInstanceOf(Array);
    const past = await db.at(versionstamp!, async (view) => (await view.notes.scan()).items);
    expect(past).toEqual([
      { id: "1", words: ["a", "b", "c"] },
      { id: "2", words: ["gone"] },
    ]);
  });
});
