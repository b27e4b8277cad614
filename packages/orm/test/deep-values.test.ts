import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { RowInvalidError } from "../src/errors/row-errors.js";
import { createDatabase, defineModel } from "../src/index.js";

const Note = defineModel({
  name: "notes",
  schema: z.object({ id: z.string(), any: z.any(), json: z.json(), tag: z.string() }),
  primaryKey: "id",
  indexes: { byTag: { key: "tag" } },
});

/** No recursive function reaches this depth. */
const depth = 20_000;

function nested(around: (value: unknown) => unknown): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = around(value);
  return value;
}

const kinds: [string, (value: unknown) => unknown][] = [
  ["objects", (value) => ({ a: value })],
  ["arrays", (value) => [value]],
  ["maps", (value) => new Map([[1, value]])],
  ["sets", (value) => new Set([value])],
];

it.each(kinds)("a row with %s nested 20,000 deep is stored and read", async (_name, around) => {
  await using kv = await openKv();
  const { notes } = await createDatabase({ kv, models: { notes: Note } });
  const any = nested(around);
  await notes.create({ data: { id: "a", any, json: 1, tag: "x" } });
  await notes.update({ where: { id: "a" }, data: { any, tag: "y" } });
  let found = (await notes.findUnique({ where: { id: "a" } }))?.any as unknown;
  let levels = 0;
  for (; typeof found === "object"; levels++)
    [found] =
      found instanceof Map || found instanceof Set
        ? found.values()
        : Object.values(found as object);
  expect(levels).toBe(depth);
});

it("a value that its schema cannot check because of its depth is refused", async () => {
  await using kv = await openKv();
  const { notes } = await createDatabase({ kv, models: { notes: Note } });
  const json = nested((value) => [value]) as z.core.util.JSONType;
  const row = { id: "a", any: 1, json, tag: "x" };
  for (const call of [
    () => notes.create({ data: row }),
    () => notes.createMany({ data: [row], atomic: true }),
    () => notes.upsert({ where: { id: "a" }, create: row, update: {} }),
  ]) {
    await expect(call()).rejects.toThrow(RowInvalidError);
    await expect(call()).rejects.toThrow("it is nested too deep for its schema");
  }
});

it("an infinite recursion of a schema's own function is not taken for a deep value", async () => {
  const endless = (): boolean => endless();
  const Endless = defineModel({
    name: "endless",
    schema: z.object({ id: z.string().refine(endless) }),
    primaryKey: "id",
  });
  await using kv = await openKv();
  const db = await createDatabase({ kv, models: { endless: Endless } });
  await expect(db.endless.create({ data: { id: "a" } })).rejects.toThrow(RangeError);
});

it.each(kinds.slice(0, 2))(
  "arguments with %s nested 20,000 deep are refused",
  async (_name, around) => {
    await using kv = await openKv();
    const { notes } = await createDatabase({ kv, models: { notes: Note } });
    const deep = nested(around) as never;
    for (const call of [
      () => notes.findMany(deep),
      () => notes.findMany({ where: deep }),
      () => notes.findMany({ where: { tag: deep } }),
      () => notes.findMany({ where: { tag: { equals: deep } } }),
      () => notes.findMany({ where: { tag: { in: deep } } }),
      () => notes.findUnique({ where: { id: deep } }),
      () => notes.findMany({ where: { tag: "x" }, select: deep }),
      () => notes.findMany({ where: { tag: "x" }, include: deep }),
      () => notes.findMany({ where: { tag: "x" }, orderBy: deep }),
      () => notes.delete({ where: { id: deep } }),
      () => notes.updateMany({ where: { tag: deep }, data: { any: 1 } }),
    ]) {
      const error: unknown = await (async () => await call())().catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: expect.stringMatching(/^KW_/) });
    }
  },
);
