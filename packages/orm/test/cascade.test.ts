import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  type Database,
  defineModel,
  resumeDeletes,
} from "../src/index.js";
import { blogModels } from "./blog-models.js";
import { countingKv } from "./counting-kv.js";
import { Crash, crashingKv, denoKv, interferingKv } from "./faulty-kv.js";
import { openDenoKv } from "./open-deno-kv.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";
import { expectReferencesToHold } from "./verify-references.js";

type Blog = Database<typeof blogModels>;

let kv: EmbeddedKv;
let db: Blog;

beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models: blogModels });
});
afterEach(() => kv.close());

const a = { id: "a" };

/** Users a and b, who have written posts; under each post are comments of both. */
async function fillBlog(on: Blog, posts: number, comments: number): Promise<void> {
  await on.users.create({ data: { id: "a", name: "Ada" } });
  await on.users.create({ data: { id: "b", name: "Bob", bossId: "a" } });
  await on.profiles.create({ data: { id: "pa", userId: "a", text: "" } });
  for (let i = 0; i < posts; i++) {
    for (const authorId of ["a", "b"]) {
      const postId = `${authorId}${i}`;
      await on.posts.create({ data: { id: postId, authorId, title: "" } });
      for (let n = 0; n < comments; n++) {
        const author = n % 2 === 0 ? { authorId: "a" } : { authorId: "b" };
        await on.comments.create({ data: { id: `${postId}-${n}`, postId, ...author } });
      }
    }
  }
}

/** Checks that nothing is left of user a, and all of user b. */
async function expectOnlyBob(
  on: Blog,
  posts: number,
  comments: number,
  store: Kv = kv,
): Promise<void> {
  expect(await on.users.scan()).toMatchObject({ items: [{ id: "b", bossId: null }] });
  expect((await on.posts.scan()).items.map((post) => post.authorId)).toEqual(
    Array.from({ length: posts }, () => "b"),
  );
  const left = (await on.comments.scan()).items;
  expect(left).toHaveLength(posts * comments);
  expect(left.filter((comment) => comment.authorId === "a")).toEqual([]);
  expect(left.filter((comment) => comment.authorId === "b")).toHaveLength(
    posts * Math.floor(comments / 2),
  );
  expect(await on.profiles.count()).toBe(0);
  await expectToBeWhole(store);
}

async function expectToBeWhole(store: Kv): Promise<void> {
  await expectReferencesToHold(store, blogModels);
  for (const model of Object.values(blogModels)) await expectIndexesToMatch(store, model);
}

/** All that a database has. */
async function contents(store: Kv): Promise<unknown[]> {
  const entries: unknown[] = [];
  for await (const entry of store.list({ prefix: [] })) entries.push(entry);
  return entries;
}

/** The keys of deletes that were begun and are not done. */
async function jobs(): Promise<unknown[]> {
  const keys: unknown[] = [];
  for await (const { key } of kv.list({ prefix: ["__keywright", "cascade"] })) keys.push(key);
  return keys;
}

describe("a delete", () => {
  it("takes along, clears or is forbidden by who refers to the row, in one commit", async () => {
    await fillBlog(db, 3, 4);
    const counting = countingKv(kv);
    const deleter = await createDatabase({ kv: counting.kv, models: blogModels });
    counting.calls.commit = 0;
    expect(await deleter.users.delete({ where: a })).toEqual({
      id: "a",
      name: "Ada",
      bossId: null,
    });
    expect(counting.calls.commit).toBe(1);
    await expectOnlyBob(db, 3, 4);
  });

  it("is forbidden by a row far away, and writes nothing then", async () => {
    await fillBlog(db, 2, 1);
    await db.tags.create({ data: { id: "t" } });
    await db.postTags.create({ data: { postId: "a1", tagId: "t" } });
    expect(await rejection(db.tags.delete({ where: { id: "t" } }))).toMatchObject({
      code: "KW_ROW_REFERENCED",
      operation: "delete",
      model: "tags",
      id: "t",
      by: { model: "post_tags", relation: "tag", id: ["a1", "t"] },
    });
    const Label = defineModel({
      name: "labels",
      schema: z.object({ id: z.string(), commentId: z.string() }),
      primaryKey: "id",
      indexes: { byComment: { key: "commentId" } },
      relations: { comment: belongsTo("comments", "commentId") },
    });
    const models = { ...blogModels, labels: Label };
    const strict = await createDatabase({ kv, models });
    await strict.labels.create({ data: { id: "l", commentId: "a1-0" } });
    expect(await rejection(strict.users.delete({ where: a }))).toMatchObject({
      code: "KW_ROW_REFERENCED",
      model: "comments",
      id: "a1-0",
      by: { model: "labels", relation: "comment", id: "l" },
    });
    expect(await db.posts.count()).toBe(4);
    await expectReferencesToHold(kv, models);
  });

  it("of a row that is not there, or has another version, does nothing", async () => {
    await fillBlog(db, 1, 1);
    expect(await rejection(db.users.delete({ where: { id: "c" } }))).toMatchObject({
      code: "KW_ROW_NOT_FOUND",
      where: { id: "c" },
    });
    const old = await db.users.findUnique({ where: a, withVersionstamp: true });
    await db.users.update({ where: a, data: { name: "Ada L." } });
    const ifVersion = old?.versionstamp ?? "";
    expect(await rejection(db.users.delete({ where: a, ifVersion }))).toMatchObject({
      code: "KW_VERSION_CONFLICT",
    });
    expect(await db.posts.count()).toBe(2);
    const { versionstamp } =
      (await db.users.findUnique({ where: a, withVersionstamp: true })) ?? {};
    await db.users.delete({ where: a, ifVersion: versionstamp ?? "" });
    await expectOnlyBob(db, 1, 1);
  });

  it("of a row that is found by a unique index is of that row", async () => {
    await fillBlog(db, 1, 0);
    const Pin = defineModel({
      name: "pins",
      schema: z.object({ id: z.string(), profileId: z.string() }),
      primaryKey: "id",
      indexes: { byProfile: { key: "profileId" } },
      relations: { profile: belongsTo("profiles", "profileId", { onDelete: "cascade" }) },
    });
    const models = { ...blogModels, pins: Pin };
    const own = await createDatabase({ kv, models });
    await own.profiles.create({ data: { id: "pb", userId: "b", text: "" } });
    await own.pins.create({ data: { id: "1", profileId: "pa" } });
    await own.pins.create({ data: { id: "2", profileId: "pb" } });
    let isFirst = true;
    const racing = interferingKv(kv, async () => {
      if (!isFirst) return;
      isFirst = false;
      // Before the commit, another row gets the value that the first one was found by.
      await own.users.create({ data: { id: "c", name: "Cyd" } });
      await own.profiles.update({ where: { id: "pa" }, data: { userId: "c" } });
      await own.profiles.update({ where: { id: "pb" }, data: { userId: "a" } });
    });
    const deleter = await createDatabase({ kv: racing, models });
    expect((await deleter.profiles.delete({ where: { userId: "a" } })).id).toBe("pb");
    expect((await own.pins.scan()).items.map((pin) => pin.id)).toEqual(["1"]);
    await expectReferencesToHold(kv, models);
  });

  it("calls the hooks of the rows that go with it, and those behind it once it is committed", async () => {
    await fillBlog(db, 1, 2);
    const calls: string[] = [];
    const hooked = await createDatabase({
      kv,
      models: blogModels,
      hooks: {
        posts: { afterDelete: (row) => void calls.push(`post ${row.id}`) },
        comments: {
          afterDelete: (row) => void calls.push(`comment ${row.id}`),
          afterUpdate: (row) => void calls.push(`comment ${row.id} of ${row.authorId}`),
        },
        users: { afterDelete: (row) => void calls.push(`user ${row.id}`) },
      },
    });
    await hooked.users.delete({ where: a });
    expect(calls).toEqual([
      "comment a0-0",
      "comment a0-1",
      "post a0",
      "comment b0-0 of undefined",
      "user a",
    ]);
  });

  it("within a transaction is all of it or nothing", async () => {
    await fillBlog(db, 2, 2);
    const failed = db.transaction(async (tx) => {
      await tx.users.delete({ where: a });
      expect(await tx.posts.count()).toBe(2);
      throw new Error("no");
    });
    expect((await rejection(failed)).message).toBe("no");
    expect(await db.posts.count()).toBe(4);
    await db.tags.create({ data: { id: "t" } });
    await db.postTags.create({ data: { postId: "a1", tagId: "t" } });
    await db.transaction(async (tx) => {
      await tx.posts.delete({ where: { id: "b1" } });
      // A delete that is forbidden leaves nothing of itself in the transaction.
      expect((await rejection(tx.tags.delete({ where: { id: "t" } }))).code).toBe(
        "KW_ROW_REFERENCED",
      );
      await tx.users.create({ data: { id: "c", name: "Cyd" } });
    });
    expect(await db.posts.count()).toBe(3);
    expect(await db.users.count()).toBe(3);
    await db.transaction(async (tx) => {
      await tx.posts.create({ data: { id: "late", authorId: "a", title: "" } });
      await tx.users.delete({ where: a });
    });
    expect((await db.posts.scan()).items.map((post) => post.id)).toEqual(["b0"]);
    await expectToBeWhole(kv);
  });

  it("ends where rows refer to each other in a circle, or lead to one by two ways", async () => {
    const Node = defineModel({
      name: "nodes",
      schema: z.object({ id: z.string(), up: z.string().optional(), side: z.string().optional() }),
      primaryKey: "id",
      indexes: { byUp: { key: "up" }, bySide: { key: "side" } },
      relations: {
        parent: belongsTo("nodes", "up", { onDelete: "cascade" }),
        neighbour: belongsTo("nodes", "side", { onDelete: "cascade" }),
      },
    });
    const models = { nodes: Node };
    const own = await createDatabase({ kv, models });
    // A ladder whose rungs each refer to both ends of the one before, and a first one that refers
    // to the last.
    const names = Array.from({ length: 24 }, (_, n) => [`l${n}`, `r${n}`] as const);
    for (const [n, [left, right]] of names.entries()) {
      const before = names[n - 1];
      const data = before === undefined ? {} : { up: before[0], side: before[1] };
      for (const id of [left, right]) await own.nodes.create({ data: { id, ...data } });
    }
    await own.nodes.update({ where: { id: "l0" }, data: { up: "l23", side: "l0" } });
    await own.nodes.create({ data: { id: "other" } });
    await own.nodes.delete({ where: { id: "l3" } });
    const left = (await own.nodes.scan()).items.map((node) => node.id);
    expect(left).toEqual(["other", "r0", "r1", "r2", "r3"].filter((id) => left.includes(id)));
    await expectReferencesToHold(kv, models);
    await expectIndexesToMatch(kv, Node);
  });

  it("is forbidden by others where it restricts, and not by the row itself", async () => {
    const Folder = defineModel({
      name: "folders",
      schema: z.object({ id: z.string(), within: z.string() }),
      primaryKey: "id",
      indexes: { byWithin: { key: "within" } },
      relations: { parent: belongsTo("folders", "within", { onDelete: "restrict" }) },
    });
    const own = await createDatabase({ kv, models: { folders: Folder } });
    await own.folders.create({ data: { id: "root", within: "root" } });
    await own.folders.create({ data: { id: "sub", within: "root" } });
    expect(await rejection(own.folders.delete({ where: { id: "root" } }))).toMatchObject({
      code: "KW_ROW_REFERENCED",
      by: { model: "folders", relation: "parent", id: "sub" },
    });
    await own.folders.delete({ where: { id: "sub" } });
    await own.folders.delete({ where: { id: "root" } });
    expect(await own.folders.count()).toBe(0);
  });

  describe.each([
    ["the restricting row comes last", ["b", null], ["a", "b"]],
    ["the restricting row comes first", ["a", null], ["b", "a"]],
    ["the rows restrict each other", ["a", "b"], ["b", "a"]],
  ] as const)("of rows that restrict each other's deletion, if %s", (_, first, second) => {
    const Post = defineModel({
      name: "pages",
      schema: z.object({ id: z.string() }),
      primaryKey: "id",
    });
    const Comment = defineModel({
      name: "replies",
      schema: z.object({ id: z.string(), postId: z.string(), parentId: z.string().nullable() }),
      primaryKey: "id",
      indexes: { byPost: { key: "postId" }, byParent: { key: "parentId" } },
      relations: {
        post: belongsTo("pages", "postId", { onDelete: "cascade" }),
        parent: belongsTo("replies", "parentId", { onDelete: "restrict" }),
      },
    });
    const p = { id: "p" };

    it.each(["delete", "deleteMany"] as const)("is refused by %s in every way", async (method) => {
      const own = await createDatabase({ kv, models: { pages: Post, replies: Comment } });
      await own.pages.create({ data: p });
      for (const [id] of [first, second]) {
        await own.replies.create({ data: { id, postId: "p", parentId: null } });
      }
      for (const [id, parentId] of [first, second]) {
        await own.replies.update({ where: { id }, data: { parentId } });
      }
      const remove = (on: Pick<typeof own, "pages">): Promise<unknown> =>
        method === "delete"
          ? on.pages.delete({ where: p })
          : on.pages.deleteMany({ where: p, atomic: true });
      const refused = { code: "KW_ROW_REFERENCED", by: { model: "replies", relation: "parent" } };
      expect(await rejection(remove(own))).toMatchObject(refused);
      expect(await rejection(own.transaction(remove))).toMatchObject(refused);
      expect(await own.pages.count()).toBe(1);
      expect(await own.replies.count()).toBe(2);
    });
  });

  describe.each([
    ["of one commit", 1],
    ["in steps", 30],
  ])("%s is forbidden by a row that it takes along itself", (_size, rows) => {
    const parent = (name: string, onDelete: "cascade" | "setNull") =>
      defineModel({
        name,
        schema: z.object({ id: z.string(), rootId: z.string().nullable() }),
        primaryKey: "id",
        indexes: { byRoot: { key: "rootId" } },
        relations: { root: belongsTo("roots", "rootId", { onDelete }) },
      });
    const Root = defineModel({
      name: "roots",
      schema: z.object({ id: z.string() }),
      primaryKey: "id",
    });
    /** Its rows go with rows of `firsts`, or lose what leads there, and restrict `seconds`. */
    const child = (onDelete: "cascade" | "setNull", shared: boolean) =>
      defineModel({
        name: "children",
        schema: z.object({ id: z.string(), a: z.string().nullable(), b: z.string().nullable() }),
        primaryKey: "id",
        indexes: { byA: { key: "a" }, byB: { key: "b" } },
        relations: {
          first: belongsTo("firsts", "a", { onDelete }),
          second: belongsTo("seconds", shared ? "a" : "b", { onDelete: "restrict" }),
        },
      });
    const firsts = parent("firsts", "cascade");
    const seconds = parent("seconds", "cascade");
    const orders = {
      "first, then second": (children: ReturnType<typeof child>) => ({
        roots: Root,
        firsts,
        seconds,
        children,
      }),
      "second, then first": (children: ReturnType<typeof child>) => ({
        children,
        seconds,
        firsts,
        roots: Root,
      }),
    };
    const cases = Object.keys(orders).flatMap((order) =>
      (["cascade", "setNull"] as const).flatMap((onDelete) =>
        ["delete", "transaction"].map((call) => [order, onDelete, call] as const),
      ),
    );

    it.each(cases)("%s, %s, %s", async (order, onDelete, call) => {
      // With "setNull", one field leads to both rows, and the walk clears it.
      const children = child(onDelete, onDelete === "setNull");
      const models = orders[order as keyof typeof orders](children);
      const own = await createDatabase({ kv: rows === 1 ? kv : denoKv(kv), models });
      await own.roots.create({ data: { id: "r" } });
      for (let i = 0; i < rows; i++) {
        const id = `x${i}`;
        await own.firsts.create({ data: { id, rootId: "r" } });
        await own.seconds.create({ data: { id, rootId: "r" } });
        await own.children.create({ data: { id, a: id, b: id } });
      }
      const before = await contents(kv);
      const where = { id: "r" };
      const failed =
        call === "delete"
          ? own.roots.delete({ where })
          : own.transaction((tx) => tx.roots.delete({ where }));
      expect(await rejection(failed)).toMatchObject({
        code: "KW_ROW_REFERENCED",
        model: "seconds",
        by: { model: "children", relation: "second" },
      });
      expect(await contents(kv)).toEqual(before);
    });
  });

  it("clears the fields of a reference that may be absent, and no others", async () => {
    const Team = defineModel({
      name: "teams",
      schema: z.object({ tenant: z.string(), id: z.number() }),
      primaryKey: ["tenant", "id"],
    });
    const Person = defineModel({
      name: "people",
      schema: z.object({
        tenant: z.string(),
        id: z.number(),
        teamId: z.number().optional(),
        oldTeamId: z.number().nullable(),
      }),
      primaryKey: ["tenant", "id"],
      indexes: {
        byTeam: { key: ["tenant", "teamId"] },
        byOldTeam: { key: ["tenant", "oldTeamId"] },
      },
      relations: {
        team: belongsTo("teams", ["tenant", "teamId"], { onDelete: "setNull" }),
        oldTeam: belongsTo("teams", ["tenant", "oldTeamId"], { onDelete: "setNull" }),
      },
    });
    const models = { teams: Team, people: Person };
    const own = await createDatabase({ kv, models });
    for (const tenant of ["x", "y"]) {
      await own.teams.create({ data: { tenant, id: 1 } });
      await own.people.create({ data: { tenant, id: 7, teamId: 1, oldTeamId: 1 } });
    }
    await own.teams.delete({ where: { tenant: "x", id: 1 } });
    expect((await own.people.scan()).items).toEqual([
      { tenant: "x", id: 7, oldTeamId: null },
      { tenant: "y", id: 7, teamId: 1, oldTeamId: 1 },
    ]);
    await expectReferencesToHold(kv, models);
    await expectIndexesToMatch(kv, Person);
  });
});

/** More than one commit of Deno KV's limits takes. */
const posts = 6;
const comments = 3;

describe("a delete that one commit cannot take", () => {
  it("is done in steps within the database's limits", async () => {
    const deno = await createDatabase({ kv: denoKv(kv), models: blogModels });
    await fillBlog(db, posts, comments);
    expect(await deno.users.delete({ where: a })).toEqual({ id: "a", name: "Ada", bossId: null });
    await expectOnlyBob(db, posts, comments);
    expect(await jobs()).toEqual([]);
  });

  it("is done in steps for a stored value that is not a row", async () => {
    const deno = await createDatabase({ kv: denoKv(kv), models: blogModels });
    await fillBlog(db, posts, comments);
    await kv.set(["users", "a"], "no row");
    expect(await deno.users.delete({ where: a })).toEqual(a);
    await expectOnlyBob(db, posts, comments);
    expect(await jobs()).toEqual([]);
  });

  it("is done on Deno KV", async () => {
    const deno = await openDenoKv();
    try {
      const own = await createDatabase({ kv: deno, models: blogModels });
      await fillBlog(own, posts, comments);
      await own.users.delete({ where: a });
      await expectOnlyBob(own, posts, comments, deno as Kv);
    } finally {
      await deno.close();
    }
  });

  it("is done in steps of a thousand rows", async () => {
    await db.users.create({ data: { id: "a", name: "Ada" } });
    await db.posts.create({ data: { id: "p", authorId: "a", title: "" } });
    const data = Array.from({ length: 2500 }, (_, n) => ({ id: `c${n}`, postId: "p" }));
    await db.comments.createMany({ data });
    const counting = countingKv(kv);
    const deleter = await createDatabase({ kv: counting.kv, models: blogModels });
    counting.calls.commit = 0;
    await deleter.users.delete({ where: a });
    // The job, and three steps.
    expect(counting.calls.commit).toBe(4);
    expect(await db.comments.count()).toBe(0);
    await expectToBeWhole(kv);
  });

  it("follows a long chain", async () => {
    const Link = defineModel({
      name: "links",
      schema: z.object({ id: z.number(), next: z.number().optional() }),
      primaryKey: "id",
      indexes: { byNext: { key: "next" } },
      relations: { to: belongsTo("links", "next", { onDelete: "cascade" }) },
    });
    const own = await createDatabase({ kv, models: { links: Link } });
    for (let id = 0; id < 1500; id++) {
      await own.links.create({ data: id === 0 ? { id } : { id, next: id - 1 } });
    }
    await own.links.delete({ where: { id: 0 } });
    expect(await own.links.count()).toBe(0);
    await expectReferencesToHold(kv, { links: Link });
  });

  it("is forbidden before its first step", async () => {
    await fillBlog(db, posts, comments);
    const Label = defineModel({
      name: "labels",
      schema: z.object({ id: z.string(), commentId: z.string() }),
      primaryKey: "id",
      indexes: { byComment: { key: "commentId" } },
      relations: { comment: belongsTo("comments", "commentId") },
    });
    const models = { ...blogModels, labels: Label };
    const strict = await createDatabase({ kv, models });
    await strict.labels.create({ data: { id: "l", commentId: "a5-2" } });
    const deno = await createDatabase({ kv: denoKv(kv), models });
    const before = (await kv.get(["users", "a"])).versionstamp;
    expect(await rejection(deno.users.delete({ where: a }))).toMatchObject({
      code: "KW_ROW_REFERENCED",
      by: { model: "labels", id: "l" },
    });
    expect((await kv.get(["users", "a"])).versionstamp).toBe(before);
    expect(await db.posts.count()).toBe(2 * posts);
    expect(await jobs()).toEqual([]);
  });

  it("stops if it is forbidden by then: the row stays, and is no longer being deleted", async () => {
    await fillBlog(db, posts, comments);
    const Label = defineModel({
      name: "labels",
      schema: z.object({ id: z.string(), userId: z.string() }),
      primaryKey: "id",
      indexes: { byUser: { key: "userId" } },
      relations: { user: belongsTo("users", "userId") },
    });
    const models = { ...blogModels, labels: Label };
    const strict = await createDatabase({ kv, models });
    let commits = 0;
    const racing = interferingKv(denoKv(kv), async () => {
      if (++commits === 5) await strict.labels.create({ data: { id: "l", userId: "a" } });
    });
    const deleter = await createDatabase({ kv: racing, models });
    expect(await rejection(deleter.users.delete({ where: a }))).toMatchObject({
      code: "KW_ROW_REFERENCED",
    });
    expect(await db.users.count()).toBe(2);
    expect(await db.posts.count()).toBeLessThan(2 * posts);
    expect(await jobs()).toEqual([]);
    await expectReferencesToHold(kv, models);
  });

  it("takes along what is created while it is done", async () => {
    await fillBlog(db, posts, comments);
    let created = 0;
    const racing = interferingKv(denoKv(kv), async () => {
      if (created === 30) return;
      const id = `new${created++}`;
      await db.posts.create({ data: { id, authorId: "a", title: "" } }).catch(() => undefined);
      await db.comments.create({ data: { id, postId: id, authorId: "a" } }).catch(() => undefined);
    });
    const deleter = await createDatabase({ kv: racing, models: blogModels });
    await deleter.users.delete({ where: a });
    await expectOnlyBob(db, posts, comments);
  });

  it("is done once where two programs do it at the same time", async () => {
    await fillBlog(db, posts, comments);
    const one = await createDatabase({ kv: denoKv(kv), models: blogModels });
    const other = await createDatabase({ kv: denoKv(kv), models: blogModels });
    const results = await Promise.allSettled([
      one.users.delete({ where: a }),
      other.users.delete({ where: a }),
    ]);
    expect(results.some(({ status }) => status === "fulfilled")).toBe(true);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason.code).toBe("KW_ROW_NOT_FOUND");
    }
    await expectOnlyBob(db, posts, comments);
  });

  describe.each(["before", "after"] as const)(
    "continues after a crash %s any of its commits",
    (moment) => {
      it.each([
        ["by the same delete again", (on: Blog) => on.users.delete({ where: a }).then(() => 1)],
        ["by resumeDeletes", async (on: Blog) => (await resumeDeletes(on)).finished],
      ])("%s", async (_name, goOn) => {
        let isCrashed = true;
        for (let at = 1; isCrashed; at++) {
          await kv.close();
          kv = await openKv();
          db = await createDatabase({ kv, models: blogModels });
          await fillBlog(db, 4, 3);
          // Opening a database that knows its models commits nothing.
          const mortal = crashingKv(denoKv(kv), at, moment);
          const first = await createDatabase({ kv: mortal, models: blogModels });
          isCrashed = await first.users.delete({ where: a }).then(
            () => false,
            (error) => error instanceof Crash,
          );
          const isGone = (await db.users.findUnique({ where: a })) === null;
          const begun = (await jobs()).length;
          // Until the first step, nothing has happened; from then on, what has is written down.
          if (at > 1 || moment === "after") expect(begun).toBe(isGone ? 0 : 1);
          if (isGone) expect(begun).toBe(0);
          else {
            const deno = await createDatabase({ kv: denoKv(kv), models: blogModels });
            if (begun === 0) await deno.users.delete({ where: a });
            else expect(await goOn(deno)).toBe(1);
          }
          await expectOnlyBob(db, 4, 3);
          expect(await jobs()).toEqual([]);
          expect(at).toBeLessThan(100);
        }
      });
    },
  );

  it("that was begun is not one of a row that has its key later", async () => {
    await fillBlog(db, posts, comments);
    const mortal = crashingKv(denoKv(kv), 3, "after");
    const first = await createDatabase({ kv: mortal, models: blogModels });
    await expect(first.users.delete({ where: a })).rejects.toBeInstanceOf(Crash);
    expect(await jobs()).toHaveLength(1);
    await db.users.delete({ where: a });
    await db.users.create({ data: { id: "a", name: "Another" } });
    expect(await resumeDeletes(db)).toEqual({ finished: 0, failed: [] });
    expect((await db.users.findUnique({ where: a }))?.name).toBe("Another");
  });

  it("is reported if it cannot be completed, and is not tried again", async () => {
    await fillBlog(db, posts, comments);
    const mortal = crashingKv(denoKv(kv), 3, "after");
    const first = await createDatabase({ kv: mortal, models: blogModels });
    await expect(first.users.delete({ where: a })).rejects.toBeInstanceOf(Crash);
    const failing = await createDatabase({
      kv,
      models: blogModels,
      hooks: {
        posts: {
          beforeDelete: () => {
            throw new Error("not this one");
          },
        },
      },
    });
    const { finished, failed } = await resumeDeletes(failing);
    expect(finished).toBe(0);
    expect(failed).toMatchObject([{ model: "users", id: "a", error: { message: "not this one" } }]);
    expect(await jobs()).toEqual([]);
    expect(await resumeDeletes(db)).toEqual({ finished: 0, failed: [] });
    expect(await db.users.count()).toBe(2);
    await expectToBeWhole(kv);
  });

  it("calls the row's own hook before anything is written, and only then", async () => {
    await fillBlog(db, posts, comments);
    let calls = 0;
    let isAllowed = false;
    const asked: number[] = [];
    const deleter = await createDatabase({
      kv: denoKv(kv),
      models: blogModels,
      hooks: {
        users: {
          beforeDelete: async (row) => {
            expect(row).toMatchObject({ id: "a", name: "Ada" });
            calls++;
            asked.push(await db.comments.count());
            if (!isAllowed) throw new Error("protected");
          },
        },
      },
    });
    const before = await contents(kv);
    expect((await rejection(deleter.users.delete({ where: a }))).message).toBe("protected");
    expect(await contents(kv)).toEqual(before);
    expect(await resumeDeletes(db)).toEqual({ finished: 0, failed: [] });
    isAllowed = true;
    await deleter.users.delete({ where: a });
    expect(calls).toBe(2);
    expect(asked).toEqual([2 * posts * comments, 2 * posts * comments]);
    await expectOnlyBob(db, posts, comments);
  });

  it("asks the hooks of rows of the same model that go with the row", async () => {
    const Node = defineModel({
      name: "nodes",
      schema: z.object({ id: z.string(), up: z.string().optional() }),
      primaryKey: "id",
      indexes: { byUp: { key: "up" } },
      relations: { parent: belongsTo("nodes", "up", { onDelete: "cascade" }) },
    });
    const calls = new Map<string, number>();
    const own = await createDatabase({
      kv: denoKv(kv),
      models: { nodes: Node },
      hooks: {
        nodes: { beforeDelete: ({ id }) => void calls.set(id, (calls.get(id) ?? 0) + 1) },
      },
    });
    const ids = Array.from({ length: 20 }, (_, i) => `n${i}`);
    for (const [i, id] of ids.entries()) {
      await own.nodes.create({ data: i === 0 ? { id } : { id, up: "n0" } });
    }
    await own.nodes.delete({ where: { id: "n0" } });
    expect([...calls.keys()].sort()).toEqual([...ids].sort());
    expect(calls.get("n0")).toBe(1);
    expect(await own.nodes.count()).toBe(0);
  });

  it.each([
    ["a hook of a row that goes with it", "posts"],
    ["a hook of a row that is cleared", "comments"],
  ] as const)("stops where %s forbids it, and is not begun any more", async (_name, model) => {
    await fillBlog(db, posts, comments);
    let calls = 0;
    const refuse = () => {
      if (++calls > 3) throw new Error("not this one");
    };
    const hooks =
      model === "posts"
        ? { posts: { beforeDelete: refuse } }
        : { comments: { beforeUpdate: refuse } };
    const deleter = await createDatabase({ kv: denoKv(kv), models: blogModels, hooks });
    expect((await rejection(deleter.users.delete({ where: a }))).message).toBe("not this one");
    expect(await jobs()).toEqual([]);
    expect(await resumeDeletes(db)).toEqual({ finished: 0, failed: [] });
    expect(await db.users.count()).toBe(2);
    await expectToBeWhole(kv);
  });

  it("stays begun where a program without the referring models has deleted the row", async () => {
    const schema = z.object({ id: z.string() });
    const groups = defineModel({ name: "groups", schema, primaryKey: "id" });
    const members = defineModel({
      name: "members",
      schema: schema.extend({ groupId: z.string() }),
      primaryKey: "id",
      indexes: { byGroup: { key: "groupId" } },
      relations: { group: belongsTo("groups", "groupId", { onDelete: "cascade" }) },
    });
    const both = await createDatabase({ kv, models: { groups, members } });
    await both.groups.create({ data: { id: "g" } });
    const data = Array.from({ length: 40 }, (_, i) => ({ id: `m${i}`, groupId: "g" }));
    await both.members.createMany({ data });
    const mortal = crashingKv(denoKv(kv), 2, "after");
    const first = await createDatabase({ kv: mortal, models: { groups, members } });
    await expect(first.groups.delete({ where: { id: "g" } })).rejects.toBeInstanceOf(Crash);
    const groupsOnly = await createDatabase({ kv, models: { groups } });
    expect(await resumeDeletes(groupsOnly)).toEqual({ finished: 1, failed: [] });
    expect(await both.groups.count()).toBe(0);
    expect(await jobs()).toHaveLength(1);
    expect(await resumeDeletes(both)).toEqual({ finished: 1, failed: [] });
    expect(await jobs()).toEqual([]);
    expect(await both.members.count()).toBe(0);
  });

  it("that had begun is no longer recorded after the same delete is refused", async () => {
    await fillBlog(db, posts, comments);
    const mortal = crashingKv(denoKv(kv), 3, "after");
    const first = await createDatabase({ kv: mortal, models: blogModels });
    await expect(first.users.delete({ where: a })).rejects.toBeInstanceOf(Crash);
    const hooks = { users: { beforeDelete: () => Promise.reject(new Error("no")) } };
    const refusing = await createDatabase({ kv: denoKv(kv), models: blogModels, hooks });
    expect(await jobs()).toHaveLength(1);
    expect((await rejection(refusing.users.delete({ where: a }))).message).toBe("no");
    expect(await jobs()).toEqual([]);
  });

  it("continues if after hooks throw, and throws the first error at its end", async () => {
    await fillBlog(db, posts, comments);
    const thrown: string[] = [];
    const fail = ({ id }: { readonly id: string }) => {
      thrown.push(id);
      throw new Error(id);
    };
    const deleter = await createDatabase({
      kv: denoKv(kv),
      models: blogModels,
      hooks: { posts: { afterDelete: fail }, users: { afterDelete: fail } },
    });
    const error = await rejection(deleter.users.delete({ where: a }));
    expect(thrown).toHaveLength(posts + 1);
    expect(error.message).toBe(thrown[0]);
    expect(await jobs()).toEqual([]);
    await expectOnlyBob(db, posts, comments);
  });

  it("is done in steps at once where others write all the time", async () => {
    await fillBlog(db, posts, comments);
    let attempts = 0;
    let created = 0;
    const deleter = await createDatabase({
      kv: denoKv(kv),
      models: blogModels,
      hooks: {
        // Whatever the delete has read by then does not hold any more.
        profiles: {
          beforeDelete: async () => {
            attempts++;
            const id = `new${created++}`;
            if (created < 90) await db.posts.create({ data: { id, authorId: "a", title: "" } });
          },
        },
      },
    });
    await deleter.users.delete({ where: a });
    await expectOnlyBob(db, posts, comments);
    expect(attempts).toBeLessThan(20);
  });

  it("takes along what has moved from one row that goes to another that does", async () => {
    const chain = ["roots", "mids", "exes", "leaves"] as const;
    const level = <const N extends string, const U extends string>(name: N, up: U) =>
      defineModel({
        name,
        schema: z.object({ id: z.string(), up: z.string().optional() }),
        primaryKey: "id",
        indexes: { byUp: { key: "up" } },
        relations: { parent: belongsTo(up, "up", { onDelete: "cascade" }) },
      });
    const models = {
      roots: level(chain[0], "roots"),
      mids: level(chain[1], "roots"),
      exes: level(chain[2], "mids"),
      leaves: level(chain[3], "exes"),
    };
    const own = await createDatabase({ kv, models });
    await own.roots.create({ data: { id: "r" } });
    await own.mids.createMany({ data: ["a", "b"].map((each) => ({ id: each, up: "r" })) });
    await own.exes.create({ data: { id: "x", up: "a" } });
    // The last of them is deleted in the second step, in which x is, too.
    const last = "l1299";
    await own.leaves.createMany({
      data: Array.from({ length: 1300 }, (_, i) => {
        return { id: `l${String(i).padStart(4, "0")}`, up: "x" };
      }),
    });
    let hasMoved = false;
    const hooks = {
      leaves: {
        beforeDelete: async ({ id }: { readonly id: string }) => {
          if (id !== last || hasMoved) return;
          hasMoved = true;
          await own.exes.update({ where: { id: "x" }, data: { up: "b" } });
        },
      },
    };
    const deleter = await createDatabase({ kv, models, hooks });
    await deleter.roots.delete({ where: { id: "r" } });
    expect(hasMoved).toBe(true);
    for (const table of [own.roots, own.mids, own.exes, own.leaves]) {
      expect(await table.count()).toBe(0);
    }
    await expectReferencesToHold(kv, models);
  });
});

it("resumeDeletes is not for transactions", async () => {
  const within = db.transaction((tx) => resumeDeletes(tx));
  expect(await rejection(within)).toBeInstanceOf(TypeError);
});
