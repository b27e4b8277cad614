import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, formatPlan, migrate, planMigration } from "../src/index.js";

const schema = z.object({ id: z.string() });
const Post = defineModel({ name: "posts", schema, primaryKey: "id" });
const Comment = defineModel({ name: "comments", schema, primaryKey: "id", count: true });
const Note = defineModel({ name: "notes", schema, primaryKey: "id" });

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
  const db = await createDatabase({ kv, models: { posts: Post, comments: Comment, notes: Note } });
  await migrate(db);
  await db.comments.createMany({ data: [{ id: "1" }, { id: "2" }] });
  await db.notes.create({ data: { id: "1" } });
});
afterEach(() => kv.close());

it("a model that the program has no more is named by the plan, with its rows where they are counted", async () => {
  const plan = await planMigration(await createDatabase({ kv, models: { posts: Post } }));
  expect(plan).toMatchObject({ isEmpty: true, steps: [] });
  expect(plan.databaseOnly).toEqual([
    { model: "comments", prefix: "comments", rows: 2 },
    { model: "notes", prefix: "notes" },
  ]);
  expect(formatPlan(plan)).toBe(
    [
      "Nothing to migrate.",
      "Only the database has the model comments: its 2 rows stay.",
      "Only the database has the model notes: its rows stay.",
    ].join("\n"),
  );
});

it("a model whose rows were deleted is not named any more", async () => {
  const before = await createDatabase({ kv, models: { comments: Comment, notes: Note } });
  for (const rows of [before.comments, before.notes]) {
    await rows.deleteMany({ filter: () => true, take: 1000 });
  }
  const plan = await planMigration(await createDatabase({ kv, models: { posts: Post } }));
  expect(plan.databaseOnly).toEqual([]);
});

it("a model under another name and its prefix is no such model", async () => {
  const Remark = defineModel({ ...Comment, name: "remarks", prefix: "comments" });
  const db = await createDatabase({ kv, models: { posts: Post, remarks: Remark, notes: Note } });
  expect((await planMigration(db)).databaseOnly).toEqual([]);
});
