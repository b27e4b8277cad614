import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, migrate } from "../src/index.js";
import { formatPlan, planMigration } from "../src/migrate.js";

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

describe("a model that may have another name", () => {
  const Remark = defineModel({ ...Comment, name: "remarks" });
  const planWith = async (...models: readonly { readonly name: string }[]) => {
    const named = Object.fromEntries(models.map((model) => [model.name, model]));
    return await planMigration(await createDatabase({ kv, models: named as never }));
  };
  const newNames = async (...models: readonly { readonly name: string }[]) => {
    const { databaseOnly } = await planWith(...models);
    return Object.fromEntries(databaseOnly.map(({ model, renamedTo }) => [model, renamedTo]));
  };

  beforeEach(async () => {
    // Otherwise, the rows of both models could be those of the new one.
    await kv.delete(["notes", "1"]);
  });

  it("is named with it, and with the prefix that keeps its rows", async () => {
    const plan = await planWith(Post, Remark);
    expect(plan.databaseOnly).toEqual([
      { model: "comments", prefix: "comments", rows: 2, renamedTo: "remarks" },
    ]);
    expect(formatPlan(plan).replaceAll("\n", " ")).toContain(
      'the model comments: its 2 rows stay. If it is called remarks now, give the model remarks prefix: "comments" to use these rows.',
    );
    const dropping = await planMigration(
      await createDatabase({ kv, models: { posts: Post, remarks: Remark } }),
      { dropModels: ["comments"] },
    );
    expect(dropping.steps[0]?.reason).toContain("If it is called remarks now, do not drop it");
  });

  it("may have a wider schema", async () => {
    const fields = { id: z.string(), text: z.string().optional(), stars: z.int().default(0) };
    const Wider = defineModel({ name: "wider", schema: z.object(fields), primaryKey: "id" });
    expect(await newNames(Wider)).toEqual({ comments: "wider" });
    expect(await newNames(Wider, Remark)).toEqual({ comments: "remarks" });
  });

  it("is not guessed if the schema does not fit, or several models fit, or the model has rows", async () => {
    const narrow = z.object({ id: z.string(), text: z.string() });
    const Narrow = defineModel({ name: "narrow", schema: narrow, primaryKey: "id" });
    const Other = defineModel({ ...Remark, name: "others" });
    const Numbered = defineModel({
      name: "numbered",
      schema: z.object({ id: z.int() }),
      primaryKey: "id",
    });
    const guesses = [
      await newNames(Narrow),
      await newNames(Numbered),
      await newNames(Remark, Other),
    ];
    const db = await createDatabase({ kv, models: { remarks: Remark } });
    await db.remarks.create({ data: { id: "1" } });
    guesses.push(await newNames(Remark));
    for (const guess of guesses) expect(guess.comments).toBeUndefined();
  });

  it("is not guessed if the rows of two models could be those of the new one", async () => {
    await kv.set(["notes", "1"], { id: "1" });
    expect(await newNames(Remark)).toEqual({ comments: undefined, notes: undefined });
  });
});

describe("a part of a model that may have another name", () => {
  const fields = { id: z.string(), name: z.string() };
  const before = defineModel({
    name: "people",
    schema: z.object(fields),
    primaryKey: "id",
    indexes: { byName: { key: "name" } },
  });
  const stepsWith = async (model: object) => {
    await createDatabase({ kv, models: { people: before } });
    const db = await createDatabase({ kv, models: { people: model as typeof before } });
    return (await planMigration(db)).steps;
  };

  it.each([z.string(), z.string().optional()])("a field", async (type) => {
    const schema = z.object({ id: z.string(), fullName: type });
    const steps = await stepsWith(
      defineModel({ name: "people", schema, primaryKey: "id" } as never),
    );
    const removed = steps.find(({ kind }) => kind === "remove-field");
    const isSame = !type.safeParse(undefined).success;
    expect(removed?.renamedTo).toBe(isSame ? "fullName" : undefined);
    if (isSame) expect(removed?.reason).toContain('If "name" is called "fullName" now');
  });

  it("an index", async () => {
    const steps = await stepsWith({ ...before, indexes: { byFullName: { key: "name" } } });
    expect(steps.find(({ kind }) => kind === "drop-index")).toMatchObject({
      index: "byName",
      renamedTo: "byFullName",
    });
  });

  it("an index is dropped for another that was there before", async () => {
    const old = defineModel({
      ...before,
      indexes: { ...before.indexes, byFullName: { key: "name" } },
    });
    await createDatabase({ kv, models: { people: old } });
    const steps = await stepsWith({ ...before, indexes: { byFullName: { key: "name" } } });
    expect(steps.map(({ kind, renamedTo }) => [kind, renamedTo])).toEqual([
      ["drop-index", undefined],
    ]);
  });
});
