import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { rowsOf } from "../src/codegen.js";
import { createDatabase, defineModel } from "../src/index.js";
import { entriesOf, rejection } from "./user-model.js";

const shape = { id: z.string(), name: z.string().optional() };
interface Thing {
  readonly id: string;
  readonly name?: string;
}

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

async function open(schema: z.ZodObject<typeof shape>) {
  const things = defineModel({ name: "things", schema, primaryKey: "id" });
  const db = await createDatabase({ kv, models: { things } });
  return { db, generated: rowsOf<Thing, Thing, Partial<Thing>>(db, "things") };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** A row with a misspelled field, in a variable, which the compiler does not check. */
const wrong = { id: "1", nmae: 7 } as Thing;
const change = { nmae: 7 } as Partial<Thing>;

const writes: readonly (readonly [string, (opened: Opened) => Promise<unknown>])[] = [
  ["create", ({ db }) => db.things.create({ data: wrong })],
  ["createMany", ({ db }) => db.things.createMany({ data: [wrong], atomic: true })],
  ["upsert", ({ db }) => db.things.upsert({ where: { id: "1" }, create: wrong, update: {} })],
  ["transaction", ({ db }) => db.transaction((tx) => tx.things.create({ data: wrong }))],
  ["generated create", ({ generated }) => generated.create({ data: wrong })],
  [
    "generated createMany",
    ({ generated }) => generated.createMany({ data: [wrong], atomic: true }),
  ],
  [
    "generated upsert",
    ({ generated }) => generated.upsert({ where: { id: "1" }, create: { nmae: 7 }, update: {} }),
  ],
];

const changes: typeof writes = [
  ["update", ({ db }) => db.things.update({ where: { id: "0" }, data: change })],
  [
    "updateMany",
    ({ db }) => db.things.updateMany({ where: { id: "0" }, data: change, atomic: true }),
  ],
  [
    "upsert",
    ({ db }) => db.things.upsert({ where: { id: "0" }, create: { id: "0" }, update: change }),
  ],
  ["generated update", ({ generated }) => generated.update({ where: { id: "0" }, data: change })],
];

describe.each([
  ["a plain object", z.object(shape)],
  ["a strict object", z.strictObject(shape)],
])("%s", (_, schema) => {
  it.each([...writes, ...changes])(
    "refuses a field that it does not have: %s",
    async (_, write) => {
      const opened = await open(schema as z.ZodObject<typeof shape>);
      await opened.db.things.create({ data: { id: "0" } });
      const before = await entriesOf(kv);
      const error = await rejection(write(opened));
      expect(error).toMatchObject({ code: "KW_ROW_INVALID" });
      expect(error.message).toContain('unknown field "nmae"; did you mean "name"?');
      expect(await entriesOf(kv)).toEqual(before);
    },
  );
});

describe.each([
  ["a loose object", z.looseObject(shape)],
  ["an object with a catchall", z.object(shape).catchall(z.int())],
])("%s", (_, schema) => {
  it.each(writes)("accepts other fields: %s", async (_, write) => {
    await write(await open(schema as never));
    expect((await kv.get(["things", "1"])).value).toEqual({ id: "1", nmae: 7 });
  });

  it.each(changes)("accepts other fields: %s", async (_, write) => {
    const opened = await open(schema as never);
    await opened.db.things.create({ data: { id: "0" } });
    await write(opened);
    expect((await kv.get(["things", "0"])).value).toEqual({ id: "0", nmae: 7 });
  });
});

it("lists unknown fields and the other issues together", async () => {
  const { db } = await open(z.object(shape));
  const data = { id: 1, nmae: "x" } as never;
  const error = await rejection(db.things.create({ data }));
  expect(error).toMatchObject({
    issues: [{ code: "unrecognized_keys" }, { code: "invalid_type", path: ["id"] }],
  });
});

it("ignores a field that is undefined, as an update does", async () => {
  const { db } = await open(z.object(shape));
  const row = { id: "1", nmae: undefined };
  expect(await db.things.create({ data: row })).toEqual({ id: "1" });
  expect(
    await db.things.update({ where: { id: "1" }, data: { nmae: undefined } as never }),
  ).toEqual({ id: "1" });
});

it("refuses a field that a hook adds", async () => {
  const things = defineModel({ name: "things", schema: z.object(shape), primaryKey: "id" });
  const db = await createDatabase({
    kv,
    models: { things },
    hooks: { things: { beforeCreate: (data) => ({ ...data, other: 1 }) as never } },
  });
  const data = [{ id: "1" }];
  const error = await rejection(db.things.createMany({ data, atomic: true }));
  expect(error).toMatchObject({ code: "KW_ROW_INVALID", issues: [{ path: [0] }] });
});
