import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { rowsOf } from "../src/codegen.js";
import { belongsTo, createDatabase, defineModel, hasMany } from "../src/index.js";
import { ownFields } from "../src/model/rows/own-fields.js";

describe("the fields of a schema in a stored row", () => {
  const city = z.object({ name: z.string() });
  const id = z.string();
  const stripped = (schema: z.ZodObject, row: Record<string, unknown>) => ownFields(schema, row);

  it("are all that is left, also in nested objects and arrays", () => {
    const schema = z.object({
      id,
      home: city.optional(),
      past: z.array(city).default([]),
      piped: z
        .string()
        .transform((name) => ({ name }))
        .pipe(city)
        .nullable(),
    });
    const row = { id: "1", home: { name: "a" }, past: [{ name: "b" }], piped: null };
    expect(stripped(schema, row)).toBe(row);
    const other = {
      ...{
        id: "1",
        ssn: "x",
        home: { name: "a", zip: 1 },
        past: [{ name: "b" }, { name: "c", zip: 2 }],
      },
      piped: { name: "d", zip: 3 },
    };
    const before = structuredClone(other);
    expect(stripped(schema, other)).toEqual({
      ...{
        id: "1",
        home: { name: "a" },
        past: [{ name: "b" }, { name: "c" }],
        piped: { name: "d" },
      },
    });
    expect(other).toEqual(before);
  });

  it("include all others if the schema allows them", () => {
    const row = { id: "1", ssn: "x", home: { name: "a", zip: 1 } };
    expect(stripped(z.looseObject({ id }), row)).toBe(row);
    expect(stripped(z.object({ id }).catchall(z.string()), row)).toBe(row);
    expect(stripped(z.looseObject({ id, home: city }), row)).toEqual({
      ...row,
      home: { name: "a" },
    });
    expect(stripped(z.object({ id, home: z.looseObject({}) }), row)).toEqual({
      id: "1",
      home: row.home,
    });
    expect(stripped(z.strictObject({ id }), row)).toEqual({ id: "1" });
    const either = z.object({ id, home: z.union([city, z.string()]) });
    expect(stripped(either, row)).toEqual({ id: "1", home: row.home });
  });

  it("may contain the schema itself", () => {
    const Tree: z.ZodObject = z.object({
      id,
      get children(): z.ZodType {
        return z.array(Tree).optional();
      },
    });
    const row = { id: "1", children: [{ id: "2", ssn: 1, children: [{ id: "3", ssn: 1 }] }] };
    expect(stripped(Tree, row)).toEqual({
      id: "1",
      children: [{ id: "2", children: [{ id: "3" }] }],
    });
  });

  it("are not those of the prototype of objects", () => {
    const row = JSON.parse('{"id":"1","__proto__":{"a":1}}') as Record<string, unknown>;
    expect(Object.getOwnPropertyNames(stripped(z.object({ id }), row))).toEqual(["id"]);
  });
});

describe("a row with fields that the model does not have", () => {
  const User = defineModel({
    name: "users",
    schema: z.object({ id: z.string(), name: z.string() }),
    primaryKey: "id",
    live: true,
    indexes: {
      byName: { key: "name", unique: true },
      byCopy: { key: ["name", "id"], store: "copy" },
    },
    relations: { notes: hasMany("notes", "userId") },
  });
  const Note = defineModel({
    name: "notes",
    schema: z.object({ id: z.string(), userId: z.string() }),
    primaryKey: "id",
    indexes: { byUserId: { key: "userId" } },
    relations: { user: belongsTo("users", "userId") },
  });
  const own = { id: "1", name: "Ada" };
  const stored = { ...own, ssn: "123" };
  let kv: EmbeddedKv;
  beforeEach(async () => {
    kv = await openKv();
  });
  afterEach(() => kv.close());

  const seen: unknown[] = [];
  const see = (...rows: unknown[]) =>
    void seen.push(...rows.filter((row) => "id" in (row as object)));
  async function open() {
    seen.length = 0;
    const hooks = {
      afterRead: see,
      beforeUpdate: see,
      duringUpdate: (row: object, before: object) => see(row, before),
      afterUpdate: see,
      beforeDelete: see,
      afterDelete: see,
    };
    const models = { users: User, notes: Note };
    const db = await createDatabase({ kv, models, hooks: { users: hooks } });
    const plain = await createDatabase({ kv, models });
    await plain.users.create({ data: own });
    await plain.notes.create({ data: { id: "n", userId: "1" } });
    await kv.set(["users", "1"], stored);
    await kv.set(["users_by_copy", "Ada", "1"], stored);
    return [db, plain] as const;
  }

  it("is returned without them by every read", async () => {
    for (const db of await open()) {
      const where = { id: "1" };
      const filter = (row: object) => !("ssn" in row);
      const reader = db.users.watch({ where }).getReader();
      const many = db.users.watchMany({ where: { name: "Ada" } }).getReader();
      const rows = [
        await db.users.findUnique({ where }),
        await db.users.findUnique({ where: { name: "Ada" } }),
        (await db.users.findUnique({ where, withVersionstamp: true }))?.row,
        await db.users.findFirst({ where: { name: "Ada" }, index: "byCopy" }),
        ...(await db.users.findMany({ where: { name: "Ada" }, index: "byCopy" })).items,
        ...(await db.users.findMany({ where, filter })).items,
        ...(await db.users.scan()).items,
        (await db.notes.findUnique({ where: { id: "n" }, include: { user: true } }))?.user,
        await db.transaction((tx) => tx.users.findUnique({ where })),
        await (rowsOf(db, "users") as unknown as typeof db.users).findUnique({ where }),
        (await reader.read()).value,
        ...((await many.read()).value ?? []),
      ];
      await Promise.all([reader.cancel(), many.cancel()]);
      for await (const row of db.users.scan()) rows.push(row);
      expect(rows).toEqual(rows.map(() => own));
      const withNotes = await db.users.findUnique({ where, include: { notes: true } });
      expect(withNotes).toEqual({ ...own, notes: [{ id: "n", userId: "1" }] });
    }
    expect(seen).toEqual(seen.map(() => own));
    expect(seen.length).toBeGreaterThan(5);
  });

  it("is returned without them by writes and given so to hooks, but keeps them", async () => {
    const [db] = await open();
    const now = { ...own, name: "Bo" };
    expect(await db.users.update({ where: { id: "1" }, data: { name: "Bo" } })).toEqual(now);
    expect((await kv.get(["users", "1"])).value).toEqual({ ...stored, name: "Bo" });
    const upserted = { where: { id: "1" }, create: own, update: { name: "Cy" } };
    expect(await db.users.upsert(upserted)).toEqual({ ...own, name: "Cy" });
    await db.users.updateMany({ where: { id: "1" }, data: { name: "Di" } });
    await db.notes.delete({ where: { id: "n" } });
    expect(await db.users.delete({ where: { id: "1" } })).toEqual({ ...own, name: "Di" });
    expect(seen.every((row) => !("ssn" in (row as object)))).toBe(true);
    expect(seen.length).toBeGreaterThan(8);
  });

  it("keeps them in the elements of an array to which others are added", async () => {
    const lines = z.array(z.object({ sku: z.string(), tags: z.array(z.string()).optional() }));
    const Order = defineModel({
      name: "orders",
      schema: z.object({ id: z.string(), lines: lines.max(3) }),
      primaryKey: "id",
    });
    const { orders } = await createDatabase({ kv, models: { orders: Order } });
    await orders.create({ data: { id: "1", lines: [] } });
    const line = { sku: "a", tags: ["t"], note: "n" };
    await kv.set(["orders", "1"], { id: "1", lines: [line, { sku: "b" }] });
    const push = { sku: "c" };
    const updated = await orders.update({ where: { id: "1" }, data: { lines: { push } } });
    expect(updated.lines).toEqual([{ sku: "a", tags: ["t"] }, { sku: "b" }, push]);
    expect((await kv.get(["orders", "1"])).value).toEqual({
      id: "1",
      lines: [line, { sku: "b" }, push],
    });
  });
});
