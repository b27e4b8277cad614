import { setTimeout as sleep } from "node:timers/promises";
import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  type Database,
  defineModel,
  hasMany,
  resumeDeletes,
} from "../src/index.js";
import { verifyIndexes } from "../src/migrate.js";
import { Crash, crashingKv } from "./faulty-kv.js";
import { rejection } from "./user-model.js";

const deletedAt = z.date().nullable().default(null);
const Issue = defineModel({
  name: "issues",
  schema: z.object({ id: z.string(), deletedAt }),
  primaryKey: "id",
  softDelete: "deletedAt",
  relations: { comments: hasMany("comments", "issueId") },
});
const Comment = defineModel({
  name: "comments",
  schema: z.object({
    ...{ id: z.string(), issueId: z.string(), slug: z.string() },
    replyToId: z.string().nullable().default(null),
    deletedAt,
  }),
  primaryKey: "id",
  softDelete: "deletedAt",
  indexes: {
    byIssue: { key: "issueId" },
    byReplyTo: { key: "replyToId" },
    bySlug: { key: "slug", unique: true },
  },
  relations: {
    issue: belongsTo("issues", "issueId", { onDelete: "cascade" }),
    replyTo: belongsTo("comments", "replyToId", { onDelete: "cascade" }),
    reactions: hasMany("reactions", "commentId"),
  },
});
const Reaction = defineModel({
  name: "reactions",
  schema: z.object({
    id: z.string(),
    commentId: z.string(),
    userId: z.string().nullable().default(null),
    deletedAt,
  }),
  primaryKey: "id",
  softDelete: "deletedAt",
  indexes: { byComment: { key: "commentId" }, byUser: { key: "userId" } },
  relations: {
    comment: belongsTo("comments", "commentId", { onDelete: "cascade" }),
    user: belongsTo("users", "userId", { onDelete: "setNull" }),
  },
});
const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string() }),
  primaryKey: "id",
});
const models = { issues: Issue, comments: Comment, reactions: Reaction, users: User };

let kv: EmbeddedKv;
let db: Database<typeof models>;
const open = (on: Kv) => createDatabase({ kv: on, models });
beforeEach(async () => {
  kv = await openKv();
  db = await open(kv);
});
afterEach(async () => {
  expect((await verifyIndexes(db)).status).toBe("clean");
  await kv.close();
});

const i = { where: { id: "i" } };

/** An issue with comments, each with a reaction. Two of them were deleted before the issue. */
async function deletedIssue(comments = 3): Promise<void> {
  await db.issues.create({ data: { id: "i" } });
  const ids = Array.from({ length: comments }, (_, n) => `c${n}`);
  await db.comments.createMany({ data: ids.map((id) => ({ id, issueId: "i", slug: id })) });
  await db.reactions.createMany({ data: ids.map((id) => ({ id: `r-${id}`, commentId: id })) });
  // Each deletion has a time of its own.
  await db.comments.delete({ where: { id: "c0" } });
  await sleep(2);
  await db.reactions.delete({ where: { id: "r-c1" } });
  await sleep(2);
  await db.issues.delete(i);
}

async function times(): Promise<Map<string, number | undefined>> {
  const found = new Map<string, number | undefined>();
  const all = { withDeleted: true, maxReads: 10_000 } as const;
  const add = async (rows: AsyncIterable<{ id: string; deletedAt: Date | null }>) => {
    for await (const { id, deletedAt: mark } of rows) found.set(id, mark?.getTime());
  };
  await add(db.issues.scan(all));
  await add(db.comments.scan(all));
  await add(db.reactions.scan(all));
  return found;
}
const marked = async () => [...(await times())].flatMap(([id, time]) => (time ? [id] : []));

it("one deletion marks all rows with one time, which no row has that was deleted before", async () => {
  await deletedIssue();
  const found = await times();
  const time = found.get("i");
  const together = [...found].filter(([, each]) => each === time).map(([id]) => id);
  expect(together.sort()).toEqual(["c1", "c2", "i", "r-c2"]);
  expect(found.get("c0")).toBe(found.get("r-c0"));
});

it("cascade restores exactly the rows that were deleted with a row", async () => {
  await deletedIssue();
  const restored = await db.issues.restore({ ...i, cascade: true, withVersionstamp: true });
  expect(restored.row).toEqual({ id: "i", deletedAt: null });
  expect(restored.versionstamp).toBe((await kv.get(["issues", "i"])).versionstamp);
  expect(await marked()).toEqual(["c0", "r-c0", "r-c1"]);
  expect(await db.issues.restore({ ...i, cascade: true })).toEqual(restored.row);
});

it("cascade restores rows that refer to each other, in any order of their keys", async () => {
  await db.issues.create({ data: { id: "i" } });
  const refersTo = async (id: string, replyToId: string | null) => {
    await db.comments.create({ data: { id, issueId: "i", slug: id, replyToId } });
  };
  await refersTo("c9", null);
  await refersTo("c5", "c9");
  await refersTo("c1", "c5");
  await refersTo("d1", null);
  await refersTo("d2", "d1");
  await db.comments.update({ where: { id: "d1" }, data: { replyToId: "d2" } });
  await db.issues.delete(i);
  expect(await marked()).toHaveLength(6);
  await db.issues.restore({ ...i, cascade: true });
  expect(await marked()).toEqual([]);
  await db.comments.delete({ where: { id: "c9" } });
  await db.comments.delete({ where: { id: "d2" } });
  await db.comments.restore({ where: { id: "d1" }, cascade: true });
  expect(await marked()).toEqual(["c1", "c5", "c9"]);
});

it("without cascade, only the row is restored", async () => {
  await deletedIssue();
  await db.issues.restore(i);
  expect(await marked()).toEqual(["c0", "c1", "c2", "r-c0", "r-c1", "r-c2"]);
});

it("a conflict of one of the rows is its error, and leaves all of them deleted", async () => {
  await deletedIssue();
  await db.issues.create({ data: { id: "other" } });
  await db.comments.create({ data: { id: "new", issueId: "other", slug: "c2" } });
  const before = await marked();
  const error = await rejection(db.issues.restore({ ...i, cascade: true }));
  expect(error).toMatchObject({
    code: "KW_UNIQUE_CONSTRAINT",
    model: "comments",
    index: "bySlug",
    ownerId: "new",
  });
  expect(await marked()).toEqual(before);
});

it("is part of a transaction", async () => {
  await deletedIssue();
  const call = db.transaction(async (tx) => {
    await tx.issues.restore({ ...i, cascade: true });
    expect(await tx.comments.findUnique({ where: { id: "c2" } })).not.toBeNull();
    throw new Error("undone");
  });
  await expect(call).rejects.toThrow("undone");
  expect(await marked()).toContain("c2");
});

it("an interrupted deletion continues with its time, and an interrupted restoration with the rest", async () => {
  await deletedIssue(600);
  // The second commit is the first of two with rows that refer to the issue.
  const crashing = await open(crashingKv(kv, 2, "after"));
  expect(await rejection(crashing.issues.restore({ ...i, cascade: true }))).toBeInstanceOf(Crash);
  expect(await db.issues.findUnique(i)).not.toBeNull();
  expect((await marked()).length).toBeGreaterThan(100);
  await db.issues.restore({ ...i, cascade: true });
  expect(await marked()).toEqual(["c0", "r-c0", "r-c1"]);
  expect(await kv.list({ prefix: ["__keywright", "restore"] }).next()).toMatchObject({
    done: true,
  });
  // Of the deletion, the third commit is the first after that of the job and of some rows.
  const dying = await open(crashingKv(kv, 3, "before"));
  expect(await rejection(dying.issues.delete(i))).toBeInstanceOf(Crash);
  expect((await marked()).length).toBeGreaterThan(100);
  expect(await resumeDeletes(db)).toEqual({ finished: 1, failed: [] });
  expect(new Set((await times()).values()).size).toBe(3);
});

it("a removed row leaves no reference to it in marked rows", async () => {
  await db.users.create({ data: { id: "ada" } });
  await db.issues.create({ data: { id: "i" } });
  await db.comments.create({ data: { id: "c", issueId: "i", slug: "c" } });
  await db.reactions.create({ data: { id: "r", commentId: "c", userId: "ada" } });
  await db.reactions.delete({ where: { id: "r" } });
  await db.users.delete({ where: { id: "ada" } });
  const where = { id: "r" };
  const found = await db.reactions.findUnique({ where, withDeleted: true });
  expect(found).toMatchObject({ userId: null, deletedAt: expect.any(Date) });
  await db.users.create({ data: { id: "ada" } });
  expect(await db.reactions.restore({ where })).toMatchObject({ userId: null, deletedAt: null });
});

it("refuses a cascade that is no boolean", async () => {
  await deletedIssue();
  const cascade = "yes" as unknown as boolean;
  expect(await rejection(db.issues.restore({ ...i, cascade }))).toMatchObject({
    code: "KW_ARGUMENT_INVALID",
    argument: "cascade",
  });
});
