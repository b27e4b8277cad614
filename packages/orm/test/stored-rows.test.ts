import { openKv } from "@keywright/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { compileModel } from "../src/codegen.js";
import { createDatabase, defineModel } from "../src/index.js";
import { assertStoredRow } from "../src/model/rows/stored-row.js";

/** What is wrong with a row of this schema; undefined where it fits. */
function issuesOf(schema: z.ZodObject, row: unknown): unknown {
  const model = compileModel(defineModel({ name: "rows", schema, primaryKey: "id" as never }));
  try {
    assertStoredRow(model, row, ["a"]);
    return undefined;
  } catch (error) {
    expect(error).toMatchObject({ code: "KW_STORED_ROW_INVALID", model: "rows", id: "a" });
    return (error as { issues: unknown }).issues;
  }
}

const fields = {
  transform: [z.string().transform((text) => text.length), "four"],
  pipe: [z.string().transform(Number).pipe(z.number().min(1)), "7"],
  preprocess: [z.preprocess(String, z.string()), 7],
  codec: [
    z.codec(z.iso.datetime(), z.date(), {
      decode: (text) => new Date(text),
      encode: (date) => date.toISOString(),
    }),
    "2026-01-01T00:00:00Z",
  ],
  stringbool: [z.stringbool(), "yes"],
  coerce: [z.coerce.date(), 0],
  default: [z.string().default("x"), undefined],
  "default of optional": [z.string().optional().default("x"), undefined],
  prefault: [z.string().trim().prefault(" x "), undefined],
  catch: [z.number().catch(0), "none"],
  "optional default": [z.number().default(1).optional(), undefined],
  nullish: [z.number().nullish(), null],
  readonly: [z.array(z.object({ n: z.coerce.number() })).readonly(), [{ n: "1" }]],
  record: [
    z.record(
      z.string().transform((key) => key.toUpperCase()),
      z.coerce.number(),
    ),
    { a: "1" },
  ],
  map: [
    z.map(
      z.coerce.number(),
      z.string().transform((text) => text.length),
    ),
    new Map([["1", "abc"]]),
  ],
  set: [z.set(z.coerce.number()), new Set(["1"])],
  tuple: [
    z.tuple(
      [z.coerce.number()],
      z.string().transform((text) => text.length),
    ),
    ["1", "abc"],
  ],
  union: [z.union([z.string().transform((text) => text.length), z.boolean()]), "abc"],
  discriminated: [
    z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("a"), n: z.coerce.number() }),
      z.object({ kind: z.literal("b") }),
    ]),
    { kind: "a", n: "1" },
  ],
  "discriminated by a transform": [
    z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("a").transform(() => "A") }),
      z.object({ kind: z.literal("b") }),
    ]),
    { kind: "a" },
  ],
  intersection: [
    z.intersection(z.object({ n: z.coerce.number() }), z.object({ m: z.string() })),
    { n: "1", m: "m" },
  ],
  lazy: [z.lazy(() => z.string().transform((text) => text.length)), "abc"],
  bytes: [z.instanceof(Uint8Array), new Uint8Array(2)],
  brand: [z.string().brand<"Name">(), "x"],
  "refined transform": [
    z
      .string()
      .transform((text) => text.length)
      .refine((n) => n > 2),
    "abc",
  ],
  any: [z.any(), undefined],
} satisfies Record<string, [z.ZodType, unknown]>;

describe("what a schema returned", () => {
  it.each(Object.entries(fields))("fits as a stored row: %s", (_, [field, input]) => {
    const schema = z.object({ id: z.string(), field: field as z.ZodType });
    const row = schema.parse({ id: "a", field: input });
    const copy = structuredClone(row);
    expect(issuesOf(schema, copy)).toBeUndefined();
    expect(copy).toEqual(row);
  });

  it("fits whatever it was", () => {
    const schema = z.object({
      id: z.string().default("a"),
      name: z.string().transform((text) => text.length),
      age: z.coerce.number().nullish(),
      tags: z.array(z.string().trim()).default([]),
      nested: z.object({ on: z.coerce.boolean(), at: z.date().optional() }).catch({ on: false }),
    });
    const input = fc.record(
      {
        name: fc.string(),
        age: fc.option(fc.nat()),
        tags: fc.array(fc.string()),
        nested: fc.oneof(
          fc.anything(),
          fc.record({ on: fc.anything(), at: fc.date({ noInvalidDate: true }) }),
        ),
      },
      { requiredKeys: ["name"] },
    );
    fc.assert(fc.property(input, (data) => issuesOf(schema, schema.parse(data)) === undefined));
  });
});

it("may lack a field that may be anything, and no other", () => {
  const schema = z.object({
    id: z.string(),
    any: z.any(),
    unknown: z.unknown(),
    made: z.string().transform((): string | undefined => undefined),
    bytes: z.instanceof(Uint8Array).optional(),
  });
  expect(issuesOf(schema, { id: "a" })).toBeUndefined();
  const model = z.object({ id: z.string(), bytes: z.instanceof(Uint8Array) });
  expect(issuesOf(model, { id: "a" })).toMatchObject([{ path: ["bytes"] }]);
});

describe("a stored row that no longer fits", () => {
  it.each([
    ["a default that is not there", z.string().default("x"), undefined, "invalid_type"],
    [
      "a default of something optional",
      z.string().optional().default("x"),
      undefined,
      "invalid_type",
    ],
    ["a caught value that is wrong", z.number().catch(0), "none", "invalid_type"],
    ["text where it was coerced to a number", z.coerce.number(), "7", "invalid_type"],
    ["the near side of a pipe", z.string().transform(Number).pipe(z.number()), "7", "invalid_type"],
    [
      "a number out of the far side's range",
      z.string().transform(Number).pipe(z.number().min(1)),
      0,
      "too_small",
    ],
    [
      "a transformed value that a condition refuses",
      z
        .string()
        .transform((text) => text.length)
        .refine((n) => n > 2),
      1,
      "custom",
    ],
    ["a part of a readonly array", z.array(z.string()).readonly(), [1], "invalid_type"],
    ["an instance of another class", z.instanceof(Uint8Array), "bytes", "invalid_type"],
  ])("is refused: %s", (_, field, value, code) => {
    const issues = issuesOf(z.object({ id: z.string(), field }), { id: "a", field: value });
    expect(issues).toMatchObject([{ code, path: expect.arrayContaining(["field"]) }]);
  });

  it("says all that is wrong, with paths", () => {
    const schema = z.object({
      id: z.string(),
      list: z.array(z.object({ n: z.coerce.number() })),
      on: z.boolean(),
    });
    expect(issuesOf(schema, { id: "a", list: [{ n: 1 }, { n: "2" }], on: 1 })).toEqual([
      { path: ["list", 1, "n"], code: "invalid_type", message: expect.any(String) },
      { path: ["on"], code: "invalid_type", message: expect.any(String) },
    ]);
    expect(issuesOf(schema, null)).toMatchObject([{ path: [], code: "invalid_type" }]);
  });

  it("is put to the conditions of the schema as a whole", () => {
    const schema = z
      .object({ id: z.string(), from: z.string().transform((text) => text.length), to: z.number() })
      .refine(({ from, to }) => from <= to, { path: ["to"] });
    expect(issuesOf(schema, { id: "a", from: 1, to: 1 })).toBeUndefined();
    expect(issuesOf(schema, { id: "a", from: 2, to: 1 })).toMatchObject([
      { path: ["to"], code: "custom" },
    ]);
  });

  it("is one with fields that a strict schema does not have", () => {
    expect(issuesOf(z.strictObject({ id: z.string() }), { id: "a", more: 1 })).toMatchObject([
      { code: "unrecognized_keys" },
    ]);
    expect(issuesOf(z.object({ id: z.string() }), { id: "a", more: 1 })).toBeUndefined();
    const numbers = z.object({ id: z.string() }).catchall(z.coerce.number());
    expect(issuesOf(numbers, { id: "a", more: "1" })).toMatchObject([{ path: ["more"] }]);
  });
});

it("does not change the row, nor freeze a part of it", () => {
  const schema = z.object({
    id: z.string(),
    name: z.string().trim(),
    list: z.array(z.any()).readonly(),
    part: z.any().readonly(),
  });
  const row = { id: "a", name: " x ", list: [{}], part: {}, more: 1 };
  const before = structuredClone(row);
  expect(issuesOf(schema, row)).toBeUndefined();
  expect(row).toEqual(before);
  for (const part of [row, row.list, row.part]) expect(Object.isFrozen(part)).toBe(false);
});

it("believes conditions that take time, and keeps the others", async () => {
  const never = new Promise<boolean>(() => undefined);
  const schema = z
    .object({
      id: z.string(),
      slow: z.string().refine(async () => false),
      quick: z.string().refine((text) => text !== "no"),
      custom: z.custom<string>(async () => Promise.reject(new Error("not waited for"))),
      made: z.string().transform(async (text) => text.length),
    })
    .refine(() => never);
  const row = { id: "a", slow: "x", quick: "yes", custom: 1, made: 3 };
  expect(issuesOf(schema, row)).toBeUndefined();
  expect(issuesOf(schema, { ...row, quick: "no" })).toMatchObject([{ path: ["quick"] }]);
});

it("goes into rows that contain rows of their own kind", () => {
  interface Tree {
    n: number;
    children: Tree[];
    first?: Tree | undefined;
  }
  const Node = z.object({
    id: z.string().optional(),
    n: z.coerce.number(),
    get children() {
      return z.array(Node);
    },
    get first() {
      return Node.optional().refine(() => true);
    },
  });
  const Lazy: z.ZodType<Tree> = z.object({
    n: z.number(),
    children: z.lazy(() => z.array(Lazy)),
  });
  const schema = z.object({ id: z.string(), tree: Node, lazy: Lazy });
  const tree = { n: 1, children: [{ n: 2, children: [] }], first: { n: 3, children: [] } };
  expect(issuesOf(schema, { id: "a", tree, lazy: tree })).toBeUndefined();
  const bad = { n: 1, children: [{ n: "2", children: [] }] };
  expect(issuesOf(schema, { id: "a", tree: bad, lazy: bad })).toMatchObject([
    { path: ["tree", "children", 0, "n"] },
    { path: ["lazy", "children", 0, "n"] },
  ]);
});

it("create and update return instances of subclasses as they will be read", async () => {
  class Point extends Map<string, number> {}
  const Thing = defineModel({
    name: "things",
    schema: z.object({ id: z.string(), hash: z.custom<Uint8Array>(), more: z.any() }),
    primaryKey: "id",
    indexes: { byHash: { key: "hash", unique: true } },
  });
  const kv = await openKv();
  try {
    const { things } = await createDatabase({ kv, models: { things: Thing } });
    const more = { list: [Buffer.from("b"), new Point([["x", 1]])] };
    const created = await things.create({ data: { id: "a", hash: Buffer.from("a"), more } });
    const where = { id: "a" };
    expect(created).toStrictEqual(await things.findUnique({ where }));
    expect(created.hash.constructor).toBe(Uint8Array);
    expect(more.list[0]?.constructor).toBe(Buffer);
    const updated = await things.update({ where, data: { hash: Buffer.from("c"), more: [more] } });
    expect(updated).toStrictEqual(await things.findUnique({ where }));
    expect(await things.findUnique({ where: { hash: Buffer.from("c") } })).toStrictEqual(updated);
    const circular: unknown[] = Array.from({ length: 200 }, () => [0]);
    circular.push(circular, Buffer.from("d"));
    const cycle = await things.update({ where, data: { more: circular } });
    expect(cycle.more.at(-1).constructor).toBe(Uint8Array);
  } finally {
    await kv.close();
  }
});
