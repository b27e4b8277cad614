import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { rowsOf } from "../src/codegen.js";
import { createDatabase, type Database, defineModel, desc } from "../src/index.js";
import { entriesOf, rejection } from "./user-model.js";

const Note = defineModel({
  name: "notes",
  schema: z.object({
    id: z.string(),
    title: z.string().default(""),
    down: z.string().default(""),
    tags: z.array(z.string()).default([]),
  }),
  primaryKey: "id",
  indexes: {
    byTitle: { key: ["title"] },
    byDown: { key: [desc("down")] },
    byTag: { key: "tags", each: true },
  },
});

let kv: EmbeddedKv;
let db: Database<{ notes: typeof Note }>;
beforeEach(async () => {
  kv = await openKv(undefined, { compat: "deno" });
  db = await createDatabase({ kv, models: { notes: Note } });
  await db.notes.create({ data: { id: "0" } });
});
afterEach(() => kv.close());

const lone = "half \ud800";
const long = "x".repeat(3000);

describe.each([
  ["title", { title: lone }, "byTitle", "surrogate"],
  ["down", { down: lone }, "byDown", "surrogate"],
  ["tags", { tags: ["a", lone] }, "byTag", "surrogate"],
  ["title", { title: long }, "byTitle", "length"],
  ["down", { down: long }, "byDown", "length"],
  ["tags", { tags: ["a", long] }, "byTag", "length"],
] as const)("a value of %s that its index cannot hold", (field, data, index, problem) => {
  const refused = { code: "KW_INDEX_KEY_INVALID", model: "notes", index, field, problem };
  const generated = () => rowsOf<{ id: string }, object, object>(db, "notes");
  const writes: [string, () => Promise<unknown>][] = [
    ["create", () => db.notes.create({ data: { id: "1", ...data } as never })],
    ["update", () => db.notes.update({ where: { id: "0" }, data: data as never })],
    [
      "upsert",
      () =>
        db.notes.upsert({
          where: { id: "1" },
          create: { id: "1", ...data } as never,
          update: {},
        }),
    ],
    [
      "createMany",
      () => db.notes.createMany({ data: [{ id: "1", ...data } as never], atomic: true }),
    ],
    [
      "updateMany",
      () => db.notes.updateMany({ where: { id: "0" }, data: data as never, atomic: true }),
    ],
    [
      "transaction",
      () => db.transaction((tx) => tx.notes.create({ data: { id: "1", ...data } as never })),
    ],
    ["generated create", () => generated().create({ data: { id: "1", ...data } })],
  ];

  it.each(writes)(
    `is refused with the names of the model, the index (${index}) and the field: %s`,
    async (_, write) => {
      const before = await entriesOf(kv);
      const error = await rejection(write());
      expect(error).toMatchObject(refused);
      expect(error.message).toContain(`the index ${index} cannot hold ${field}`);
      expect(await entriesOf(kv)).toEqual(before);
    },
  );

  it("fails its own row of a createMany", async () => {
    const rows = [{ id: "1" }, { id: "2", ...data }, { id: "3" }] as never[];
    const { results } = await db.notes.createMany({ data: rows });
    expect(results).toMatchObject([{ ok: true }, { ok: false, error: refused }, { ok: true }]);
  });
});

it.each([
  ["surrogate", lone],
  ["length", long],
])("a primary key that cannot be stored is refused: %s", async (problem, id) => {
  const error = await rejection(db.notes.create({ data: { id } }));
  expect(error).toMatchObject({
    code: "KW_INDEX_KEY_INVALID",
    index: "primaryKey",
    field: "id",
    problem,
  });
  expect(error.message).toContain("notes.create: the primary key cannot hold id");
});

it("a row written by hand with a value too long for one index is updated and deleted in the others", async () => {
  const row = { id: "9", title: long, down: "d", tags: ["a"] };
  const others = await entriesOf(kv);
  await db.notes.create({ data: { ...row, title: "short" } });
  await kv.delete(["notes_by_title", "short", "9"]);
  await kv.set(["notes", "9"], row);
  await db.notes.update({ where: { id: "9" }, data: { title: "new" } });
  expect((await db.notes.findMany({ where: { title: "new" } })).items).toMatchObject([{ id: "9" }]);
  await kv.delete(["notes_by_title", "new", "9"]);
  await kv.set(["notes", "9"], row);
  await db.notes.delete({ where: { id: "9" } });
  expect(await entriesOf(kv)).toEqual(others);
});
