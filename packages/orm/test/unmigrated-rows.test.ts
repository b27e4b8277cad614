import { type Kv, openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { rowsOf } from "../src/codegen.js";
import {
  belongsTo,
  createDatabase,
  defineMigration,
  defineModel,
  IndexNotReadyError,
  MigrationMissingError,
  migrate,
} from "../src/index.js";
import { countingKv } from "./counting-kv.js";

const first = z.object({ id: z.string(), name: z.string(), visits: z.string() });
const base = { name: "users", primaryKey: "id" } as const;
const Note = defineModel({
  name: "notes",
  schema: z.object({ id: z.string(), userId: z.string() }),
  primaryKey: "id",
  indexes: { byUserId: { key: "userId" } },
  relations: { user: belongsTo("users", "userId") },
});
const indexes = {
  byName: { key: "name" },
  byNamed: { key: "name", where: (row: object) => !("role" in row) || row.role !== "" },
} as const;
const ada = { id: "u1", name: "Ada", visits: "3" };

async function withUsers(test: (kv: Kv) => Promise<void>): Promise<void> {
  const kv = await openKv();
  try {
    const User = defineModel({ ...base, schema: first, indexes });
    const db = await createDatabase({ kv, models: { users: User, notes: Note } });
    await db.users.create({ data: ada });
    await db.notes.create({ data: { id: "n1", userId: "u1" } });
    await test(kv);
  } finally {
    await kv.close();
  }
}

/** Opens the database with another schema and without a migration. */
async function openWith<S extends z.ZodObject<{ id: z.ZodString; name: z.ZodString }>>(
  kv: Kv,
  schema: S,
) {
  const User = defineModel({
    ...base,
    schema: schema as never,
    indexes,
  });
  return (await createDatabase({
    kv,
    models: { users: User, notes: Note } as never,
  })) as never as Any;
}
type Any = Record<string, Record<string, (argument?: unknown) => PromiseLike<unknown>>>;

const where = { id: "u1" };

describe("a new required field without a migration", () => {
  const schema = first.extend({ age: z.int() });
  const reads: readonly (readonly [string, (db: Any) => PromiseLike<unknown>])[] = [
    ["findUnique", (db) => db.users!.findUnique!({ where })],
    ["findMany", (db) => db.users!.findMany!({ where })],
    ["findMany by an index", (db) => db.users!.findMany!({ where: { name: "Ada" } })],
    ["scan", (db) => db.users!.scan!()],
    ["include", (db) => db.notes!.findMany!({ where: { id: "n1" }, include: { user: true } })],
    ["a generated read", (db) => rowsOf(db as never, "users").findUnique({ where })],
    [
      "a transaction",
      (db) => (db.transaction as never as Transaction)((tx) => tx.users!.findUnique!({ where })),
    ],
    ["watch", (db) => (db.users!.watch!({ where }) as never as ReadableStream).getReader().read()],
  ];
  type Transaction = (body: (tx: Any) => PromiseLike<unknown>) => PromiseLike<unknown>;

  it.each(reads)("keeps %s from returning rows that lack it", async (_, read) => {
    await withUsers(async (kv) => {
      const error: unknown = await Promise.resolve(read(await openWith(kv, schema))).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(MigrationMissingError);
      expect(error).toMatchObject({
        code: "KW_MIGRATION_MISSING",
        model: "users",
        fields: ["age"],
      });
      expect((error as Error).message).toContain("keywright migrate new");
    });
  });

  it("does not refuse rows that have it already", async () => {
    await withUsers(async (kv) => {
      await kv.set(["users", "u2"], { ...ada, id: "u2", age: 36 });
      const db = await openWith(kv, schema);
      expect(await db.users!.findUnique!({ where: { id: "u2" } })).toMatchObject({ age: 36 });
    });
  });

  it("is read as soon as there is a migration", async () => {
    await withUsers(async (kv) => {
      const User = defineModel({ ...base, schema, indexes });
      const up = (row: z.infer<typeof first>) => ({ ...row, age: 36 });
      const migrations = [defineMigration({ model: User, from: first, to: schema, up })];
      const db = await createDatabase({ kv, models: { users: User, notes: Note }, migrations });
      expect(await db.users.findUnique({ where })).toEqual({ ...ada, age: 36 });
      expect((await migrate(db)).status).toBe("done");
    });
  });
});

it("refuses rows whose field has another type, and fills in defaults beside it", async () => {
  await withUsers(async (kv) => {
    const role = z.string().default("member");
    const typed = await openWith(kv, first.extend({ visits: z.int(), role }));
    const error: unknown = await Promise.resolve(typed.users!.findUnique!({ where })).catch(
      (e) => e,
    );
    expect(error).toMatchObject({ code: "KW_MIGRATION_MISSING", fields: ["visits"] });
    await kv.set(["users", "u2"], { ...ada, id: "u2", visits: 3 });
    const expected = { id: "u2", name: "Ada", visits: 3, role: "member" };
    expect(await typed.users!.findUnique!({ where: { id: "u2" } })).toEqual(expected);
  });
});

it("does not read by an index that depends on what is filled in when rows are read", async () => {
  await withUsers(async (kv) => {
    const db = await openWith(kv, first.extend({ age: z.int(), role: z.string().default("x") }));
    const query = { where: { name: "Ada" }, index: "byNamed" };
    await expect(db.users!.findMany!(query)).rejects.toThrow(IndexNotReadyError);
  });
});

it("costs a program with the schema of the database nothing", async () => {
  await withUsers(async (kv) => {
    const { kv: counted, calls } = countingKv(kv);
    const db = await openWith(counted, first);
    Object.assign(calls, { get: 0, getMany: 0, list: 0 });
    expect(await db.users!.findUnique!({ where })).toEqual(ada);
    expect(calls).toMatchObject({ get: 1, getMany: 0, list: 0 });
  });
});

describe("a field that a transform makes, whose type the schema does not show", () => {
  const size = z.string().transform((text) => text.length);
  const missing = { code: "KW_MIGRATION_MISSING" };
  const readOf = async (kv: Kv, schema: Parameters<typeof openWith>[1]): Promise<unknown> => {
    const db = await openWith(kv, schema);
    return await Promise.resolve(db.users!.findUnique!({ where })).catch((error) => error);
  };

  it.each([
    ["was something else", { visits: size }, ["visits"]],
    ["is nullable and was something else", { visits: size.nullable() }, ["visits"]],
    ["is optional and was something else", { visits: size.optional() }, ["visits"]],
    ["was not there", { size }, ["size"]],
    [
      "takes undefined and was not there",
      { size: z.string().optional().transform(Number) },
      ["size"],
    ],
  ])("is not read if it %s", async (_, fields, names) => {
    await withUsers(async (kv) => {
      expect(await readOf(kv, first.extend(fields))).toMatchObject({ ...missing, fields: names });
    });
  });

  it("is read if rows may lack it, or it has a default", async () => {
    await withUsers(async (kv) => {
      expect(await readOf(kv, first.extend({ size: size.optional() }))).toEqual(ada);
      expect(await readOf(kv, first.extend({ size: size.default(3) }))).toEqual({
        ...ada,
        size: 3,
      });
    });
  });

  it("is read by an old program only if it has not changed since", async () => {
    await withUsers(async (kv) => {
      const made = first.extend({ visits: size });
      const User = defineModel({ ...base, schema: made, indexes });
      const typed = defineModel({ ...base, schema: first.extend({ visits: z.int() }), indexes });
      const up = (row: z.infer<typeof first>) => ({ ...row, visits: 1 });
      const toMade = defineMigration({ model: User, from: first, to: made, up });
      const toTyped = defineMigration({
        model: typed,
        from: made,
        to: typed.schema,
        up: (row) => row,
      });
      const models = (user: unknown) => ({ users: user, notes: Note }) as never;
      await migrate(await createDatabase({ kv, models: models(User), migrations: [toMade] }));
      expect(await readOf(kv, made)).toMatchObject({ visits: 1 });
      await migrate(await createDatabase({ kv, models: models(typed), migrations: [toTyped] }));
      expect(await readOf(kv, made)).toMatchObject({ code: "KW_STALE_SCHEMA" });
    });
  });
});
