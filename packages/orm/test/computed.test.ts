import { type EmbeddedKv, openKv } from "@keywright/core";
import fc from "fast-check";
import { afterEach, beforeEach, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  type Database,
  defineModel,
  hasMany,
  manyToMany,
  type ResultRow,
  type Row,
} from "../src/index.js";
import { entriesOf, rejection } from "./user-model.js";

const Person = defineModel({
  name: "people",
  schema: z.object({
    id: z.string(),
    first: z.string(),
    last: z.string(),
    born: z.int().optional(),
  }),
  primaryKey: "id",
  indexes: {
    byLast: { key: "last", include: ["first"] },
    byBorn: { key: "born" },
  },
  relations: {
    pets: hasMany("pets", "owner"),
    friends: manyToMany("people", { through: "ties", from: "a", to: "b" }),
  },
  computed: {
    fullName: (row) => `${row.first} ${row.last}`,
    isAdult: ({ born }) => (born === undefined ? undefined : born < 2000),
    size: (row) => Object.keys(row).length,
  },
});
const Pet = defineModel({
  name: "pets",
  schema: z.looseObject({ id: z.string(), owner: z.string() }),
  primaryKey: "id",
  indexes: { byOwner: { key: "owner" } },
  relations: { keeper: belongsTo("people", "owner") },
  computed: { tag: (row) => `${row.id}@${row.owner}` },
});
const Tie = defineModel({
  name: "ties",
  schema: z.object({ a: z.string(), b: z.string() }),
  primaryKey: ["a", "b"],
  indexes: { byB: { key: "b" } },
  relations: { from: belongsTo("people", "a"), to: belongsTo("people", "b") },
});
const models = { people: Person, pets: Pet, ties: Tie };

let kv: EmbeddedKv;
let db: Database<typeof models>;
beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models });
});
afterEach(() => kv.close());

const stored = { id: "ada", first: "Ada", last: "Lovelace", born: 1815 };
const ada = { ...stored, fullName: "Ada Lovelace", isAdult: true, size: 4 };

async function first<T>(stream: ReadableStream<T>): Promise<T | undefined> {
  for await (const value of stream) return value;
  return undefined;
}

it("are in every row that a call returns, and never stored", async () => {
  const where = { id: "ada" };
  expect(await db.people.create({ data: stored })).toEqual(ada);
  expect(await db.people.findUnique({ where })).toEqual(ada);
  expect(await db.people.findFirst({ where: { last: "Lovelace" } })).toEqual(ada);
  expect((await db.people.findMany({ where: { born: 1815 } })).items).toEqual([ada]);
  expect((await db.people.scan()).items).toEqual([ada]);
  for await (const row of db.people.findMany({ where: { born: 1815 } })) expect(row).toEqual(ada);
  expect(await first(db.people.watch({ where }))).toEqual(ada);
  expect(await first(db.people.watchMany({ where: { born: 1815 } }))).toEqual([ada]);
  const versioned = await db.people.findUnique({ where, withVersionstamp: true });
  expect(versioned?.row).toEqual(ada);
  const ann = { ...ada, first: "Ann", fullName: "Ann Lovelace" };
  expect(await db.people.update({ where, data: { first: "Ann" } })).toEqual(ann);
  const update = { first: "Ada" };
  expect(await db.people.upsert({ where, create: stored, update })).toEqual(ada);
  const { results } = await db.people.updateMany({ where: { born: 1815 }, data: {} });
  expect(results).toEqual([{ ok: true, row: ada }]);
  await db.transaction(async (tx) => {
    expect(await tx.people.findUnique({ where })).toEqual(ada);
    expect(await tx.people.update({ where, data: { first: "Ann" } })).toEqual(ann);
    expect(await tx.people.update({ where, data: { first: "Ada" } })).toEqual(ada);
  });
  expect((await kv.get(["people", "ada"])).value).toEqual(stored);
  const many = await db.people.createMany({ data: [{ ...stored, id: "b" }] });
  expect(many.results).toEqual([{ ok: true, row: { ...ada, id: "b" } }]);
  expect((await kv.get(["people", "b"])).value).toEqual({ ...stored, id: "b" });
  expect(await db.people.delete({ where })).toEqual(ada);
});

it("are in included rows", async () => {
  await db.people.createMany({ data: [stored, { ...stored, id: "bob", first: "Bob" }] });
  await db.pets.create({ data: { id: "rex", owner: "ada" } });
  await db.ties.create({ data: { a: "ada", b: "bob" } });
  const row = await db.people.findUnique({
    where: { id: "ada" },
    select: { fullName: true },
    include: { pets: { include: { keeper: { select: { isAdult: true } } } }, friends: true },
  });
  const rex = { id: "rex", owner: "ada", tag: "rex@ada" };
  expect(row).toEqual({
    fullName: "Ada Lovelace",
    pets: [{ ...rex, keeper: { isAdult: true } }],
    friends: [{ ...ada, id: "bob", first: "Bob", fullName: "Bob Lovelace" }],
  });
});

it("can be selected, and then what they need is read", async () => {
  await db.people.create({ data: stored });
  const events: number[] = [];
  const counted = await createDatabase({ kv, models, onQuery: ({ reads }) => events.push(reads) });
  const where = { last: "Lovelace" };
  const select = { fullName: true } as const;
  const { items } = await counted.people.findMany({ where, select });
  expectTypeOf(items).toEqualTypeOf<{ fullName: string }[]>();
  expect(items).toEqual([{ fullName: "Ada Lovelace" }]);
  // The index entry has all that the function reads, so the row was not read.
  expect(events).toEqual([1]);
  const whole = await counted.people.findMany({ where, select: { size: true } });
  expect(whole.items).toEqual([{ size: 4 }]);
  expect(events).toEqual([1, 2]);
  const wrong = db.people.findMany({ where, select: { fulName: true } as never });
  expect((await rejection(wrong)).message).toContain('did you mean "fullName"?');
});

it("are refused in data", async () => {
  const refusal = { code: "KW_ROW_INVALID", reason: expect.stringContaining("it is computed") };
  const where = { id: "ada" };
  const row = await db.people.create({ data: stored });
  const writes = [
    // @ts-expect-error it is computed
    db.people.create({ data: { ...row, id: "b" } }),
    // @ts-expect-error it is computed
    db.people.update({ where, data: { fullName: "x" } }),
    // @ts-expect-error it is computed
    db.people.upsert({ where, create: stored, update: { fullName: "x" } }),
    // @ts-expect-error it is computed, although the schema takes any other field
    db.pets.create({ data: { id: "x", owner: "ada", tag: "x" } }),
  ];
  for (const write of writes) expect(await rejection(write)).toMatchObject(refusal);
  await db.pets.create({ data: { id: "x", owner: "ada", other: 1 } });
  // @ts-expect-error it is computed
  expect(await rejection(db.pets.update({ where: { id: "x" }, data: { tag: "x" } }))).toMatchObject(
    refusal,
  );
  // @ts-expect-error it is not stored, so no index has it
  const query = db.people.findMany({ where: { fullName: "x" } });
  expect(await rejection(query)).toMatchObject({ code: "KW_QUERY_INVALID" });
});

it("have types, and refuse what cannot be", () => {
  expectTypeOf<ResultRow<typeof Person>["fullName"]>().toEqualTypeOf<string>();
  expectTypeOf<ResultRow<typeof Person>["isAdult"]>().toEqualTypeOf<boolean | undefined>();
  expectTypeOf<ResultRow<typeof Tie>>().toEqualTypeOf<Row<typeof Tie>>();
  const base = {
    name: "x",
    schema: z.object({ id: z.string(), to: z.string() }),
    primaryKey: "id",
    relations: { other: belongsTo("x", "to") },
  } as const;
  const bad: (() => unknown)[] = [
    // @ts-expect-error a field has this name
    () => defineModel({ ...base, computed: { to: (row) => row.id } }),
    // @ts-expect-error a relation has this name
    () => defineModel({ ...base, computed: { other: (row) => row.id } }),
    // @ts-expect-error it is no function
    () => defineModel({ ...base, computed: { z: 1 } }),
  ];
  for (const define of bad) {
    expect(define).toThrow(expect.objectContaining({ code: "KW_MODEL_INVALID" }));
  }
  // @ts-expect-error a promise is no value
  defineModel({ ...base, computed: { z: async (row) => row.id } });
  // @ts-expect-error the schema has no such field
  defineModel({ ...base, computed: { z: (row) => row.nope } });
  const again = defineModel({ ...Person, indexes: {} });
  expectTypeOf<ResultRow<typeof again>["fullName"]>().toEqualTypeOf<string>();
});

it("fail with an error that names them", async () => {
  const failing = (compute: (row: { id: string }) => unknown) =>
    createDatabase({
      kv,
      models: {
        x: defineModel({
          name: "x",
          schema: z.object({ id: z.string() }),
          primaryKey: "id",
          computed: { value: compute },
        }),
      },
    });
  const cause = new Error("secret");
  const thrown = await failing(() => {
    throw cause;
  });
  const refusal = { code: "KW_COMPUTED_FAILED", field: "value", model: "x" };
  const error = await rejection(thrown.x.create({ data: { id: "a" } }));
  expect(error).toMatchObject({ ...refusal, cause });
  expect(error.message).not.toContain("secret");
  for (const value of [Promise.reject(cause), () => 1, Symbol("x")]) {
    const other = await failing(() => value);
    expect(await rejection(other.x.findUnique({ where: { id: "a" } }))).toMatchObject(refusal);
  }
});

it("replace a stored value of the same name, of an earlier schema", async () => {
  await kv.set(["people", "old"], { ...stored, id: "old", fullName: "stale" });
  const found = await db.people.findUnique({ where: { id: "old" } });
  expect(found?.fullName).toBe("Ada Lovelace");
  const selected = { where: { id: "old" }, select: { first: true } } as const;
  expect(await db.people.findUnique(selected)).toEqual({ first: "Ada" });
});

it("are what their functions return for the stored row, with any selection", async () => {
  await db.people.create({ data: stored });
  const names = ["id", "first", "last", "born", "fullName", "isAdult", "size"] as const;
  await fc.assert(
    fc.asyncProperty(fc.subarray([...names]), async (chosen) => {
      const select = Object.fromEntries(chosen.map((name) => [name, true])) as { id: true };
      const expected = Object.fromEntries(chosen.map((name) => [name, ada[name]]));
      const byId = await db.people.findUnique({ where: { id: "ada" }, select });
      const byLast = await db.people.findFirst({ where: { last: "Lovelace" }, select });
      expect([byId, byLast]).toEqual([expected, expected]);
    }),
    { numRuns: 30 },
  );
  expect(await entriesOf(kv)).toHaveLength(3);
});
