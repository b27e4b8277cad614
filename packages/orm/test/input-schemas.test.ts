import { openKv } from "@keywright/core";
import { expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import { createDatabase, createSchema, defineModel, updateSchema } from "../src/index.js";

const Task = defineModel({
  name: "tasks",
  schema: z.object({
    id: z.ulid(),
    title: z.string().min(1),
    status: z.enum(["open", "done"]).default("open"),
    size: z.string().transform((text) => text.length),
    note: z.string().nullable().default(null),
    due: z.date().optional(),
  }),
  primaryKey: "id",
});

it("updates by the data of a form change nothing that the form does not have", async () => {
  await using kv = await openKv();
  const db = await createDatabase({ kv, models: { tasks: Task } });
  const data = createSchema(Task).parse({ title: "a", status: "done", size: "abc", extra: 1 });
  expect(data).toEqual({ title: "a", status: "done", size: "abc" });
  const { id } = await db.tasks.create({ data });
  const patch = updateSchema(Task).parse({ title: "b", id: "other" });
  expect(patch).toEqual({ title: "b" });
  const updated = await db.tasks.update({ where: { id }, data: patch });
  expect(updated).toEqual({ id, title: "b", status: "done", size: 3, note: null });
  expect(updateSchema(Task).parse({})).toEqual({});
  const size = updateSchema(Task).parse({ size: "abcd" });
  expect(await db.tasks.update({ where: { id }, data: size })).toMatchObject({ size: 4 });
});

it("refuses values that the fields do not take", () => {
  expect(updateSchema(Task).safeParse({ title: "" }).success).toBe(false);
  expect(updateSchema(Task).safeParse({ status: "closed" }).success).toBe(false);
  expect(updateSchema(Task).safeParse({ size: 3 }).success).toBe(false);
  expect(createSchema(Task).safeParse({ title: "a" }).success).toBe(false);
  expect(createSchema(Task).parse({ title: "a", size: "" })).toEqual({ title: "a", size: "" });
});

it("keeps unknown fields as the schema does, and needs every field of a composite key", () => {
  const schema = z.strictObject({ tenant: z.string(), id: z.ulid(), title: z.string() });
  const Strict = defineModel({ name: "strict", schema, primaryKey: ["tenant", "id"] });
  expect(updateSchema(Strict).safeParse({ other: 1 }).success).toBe(false);
  expect(updateSchema(Strict).safeParse({ tenant: "a" }).success).toBe(false);
  expect(createSchema(Strict).safeParse({ tenant: "a", title: "b" }).success).toBe(false);
  const Loose = defineModel({
    name: "loose",
    schema: z.looseObject({ id: z.string() }),
    primaryKey: "id",
  });
  expect(updateSchema(Loose).parse({ other: 1 })).toEqual({ other: 1 });
});

it("has the types of the data", () => {
  expectTypeOf<z.output<ReturnType<typeof updateSchema<typeof Task>>>>().toEqualTypeOf<{
    title?: string | undefined;
    status?: "open" | "done" | undefined;
    size?: string | undefined;
    note?: string | null | undefined;
    due?: Date | undefined;
  }>();
  expectTypeOf<z.output<ReturnType<typeof createSchema<typeof Task>>>>().toEqualTypeOf<{
    id?: string;
    title: string;
    status?: "open" | "done" | undefined;
    size: string;
    note?: string | null | undefined;
    due?: Date | undefined;
  }>();
});
