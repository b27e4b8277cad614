import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { outputSchema } from "../src/model/fields/output-schema.js";
import { rowManifest } from "../src/state/schema/manifests/row-manifest.js";
import { compareRows, keepsPrimaryKey } from "../src/state/schema/upgrade/compare-rows.js";

const id = z.ulid();
type Shape = Record<string, z.ZodType>;
const rows = (shape: Shape) => rowManifest(z.object({ id, ...shape }), ["id"]);
const compare = (from: Shape, to: Shape) => compareRows(rows(from), rows(to));
const compareField = (from: z.ZodType, to: z.ZodType) => compare({ field: from }, { field: to })[0];

const person = { first: z.string(), home: z.object({ street: z.string() }) };
const list = (schema: z.ZodType) => z.array(schema);
interface Node {
  readonly next?: Node | undefined;
}
const node: z.ZodType<Node> = z.object({
  get next() {
    return node.optional();
  },
});
const twin: z.ZodType<Node> = z.object({
  get next() {
    return z
      .object({
        get next() {
          return twin.optional();
        },
      })
      .optional();
  },
});

describe("fields of rows", () => {
  it.each<[string, Shape, Shape, string, boolean, RegExp]>([
    [
      "an added optional field",
      {},
      { a: z.string().optional() },
      "safe",
      true,
      /"a" is new and optional/,
    ],
    [
      "an added field with a default",
      {},
      { a: z.string().default("x") },
      "backfill",
      false,
      /filled in/,
    ],
    [
      "an added required field",
      {},
      { a: z.string() },
      "data",
      false,
      /needs a default, or a migration/,
    ],
    ["a removed field", { a: z.string() }, {}, "breaking", false, /"a" is gone/],
    [
      "a removed optional field",
      { a: z.string().optional() },
      {},
      "breaking",
      false,
      /keep what they hold/,
    ],
    [
      "a field that is required now",
      { a: z.string().optional() },
      { a: z.string() },
      "data",
      false,
      /was optional/,
    ],
    [
      "the same with a default",
      { a: z.string().optional() },
      { a: z.string().default("") },
      "backfill",
      false,
      /filled in/,
    ],
    [
      "a field that is optional now",
      { a: z.string() },
      { a: z.string().optional() },
      "safe",
      false,
      /is optional/,
    ],
    [
      "a default that is new",
      { a: z.string() },
      { a: z.string().default("x") },
      "safe",
      true,
      /has a default now/,
    ],
    [
      "a default that is gone",
      { a: z.string().default("x") },
      { a: z.string() },
      "safe",
      true,
      /no longer has a default/,
    ],
    [
      "another type",
      { age: z.string() },
      { age: z.number() },
      "data",
      false,
      /^"age" was a string and is a number: it needs a migration that changes it$/,
    ],
    [
      "an optional field of another type with a default",
      { a: z.string().optional() },
      { a: z.number().default(1) },
      "data",
      false,
      /filled in.*; .*migration/,
    ],
  ])("%s", (_, from, to, kind, sideBySide, reason) => {
    const changes = compare({ ...person, ...from }, { ...person, ...to });
    expect(changes).toEqual([
      {
        field: expect.any(String),
        kind: expect.stringMatching(/^(added|changed|removed)$/),
        class: kind,
        sideBySide,
        reason: expect.stringMatching(reason),
      },
    ]);
  });

  it("come one by one, those that are gone last", () => {
    const changes = compare({ b: z.string() }, { c: z.string(), a: z.string().optional() });
    expect(changes.map(({ field }) => field)).toEqual(["a", "c", "b"]);
  });

  it("may be others where an object is loose", () => {
    const strip = rowManifest(z.object({ id, a: z.string() }), ["id"]);
    const loose = rowManifest(z.looseObject({ id }), ["id"]);
    expect(compareRows(strip, loose)).toMatchObject([
      { field: "*", class: "safe", sideBySide: true },
      { field: "a", class: "safe", sideBySide: false },
    ]);
    expect(compareRows(loose, strip)).toMatchObject([
      { field: "a", class: "data" },
      { field: "*", class: "breaking" },
    ]);
    const numbers = rowManifest(z.object({ id }).catchall(z.number()), ["id"]);
    expect(compareRows(strip, numbers)).toMatchObject([
      { field: "*" },
      { field: "a", class: "breaking" },
    ]);
    expect(compareRows(numbers, loose)).toMatchObject([{ field: "*", class: "safe" }]);
    expect(compareRows(loose, numbers)).toMatchObject([{ field: "*", class: "data" }]);
  });
});

describe("values", () => {
  it.each<[string, z.ZodType, z.ZodType]>([
    ["an integer is a number", z.int(), z.number()],
    ["null", z.string(), z.string().nullable()],
    ["a lower bound that is gone", z.number().min(5), z.number()],
    ["a looser bound", z.number().min(5).max(6), z.number().gt(4).max(9)],
    ["an open bound that is closed", z.number().gt(5), z.number().min(5)],
    ["a shorter text", z.string().min(2).max(4), z.string().min(1).max(5)],
    ["a format that is gone", z.email(), z.string()],
    ["a pattern that is gone", z.email().regex(/x/), z.email()],
    ["a version that is gone", z.uuidv4(), z.uuid()],
    ["more values", z.enum(["a", "b"]), z.enum(["a", "b", "c"])],
    ["any text", z.enum(["a", "b"]), z.string().max(1)],
    ["any number", z.literal([1, 2]), z.int().min(1)],
    [
      "one alternative more",
      z.union([z.string(), z.date()]),
      z.union([z.string(), z.date(), z.bigint()]),
    ],
    [
      "one kind of object more",
      z.discriminatedUnion("k", [z.object({ k: z.literal(1) }), z.object({ k: z.literal(2) })]),
      z.discriminatedUnion("k", [
        z.object({ k: z.literal(1) }),
        z.object({ k: z.literal(2) }),
        z.object({ k: z.literal(3) }),
      ]),
    ],
    ["looser dates", z.date().min(new Date(5)), z.date().min(new Date(4))],
    ["looser bigints", z.bigint().max(10n ** 20n), z.bigint().max(10n ** 21n)],
    ["elements", list(z.int()), list(z.number())],
    ["more elements", list(z.int()).max(2), list(z.int()).max(3)],
    ["a list of what a tuple holds", z.tuple([z.int(), z.number()]), list(z.number())],
    ["a tuple with a rest", z.tuple([z.int()]), z.tuple([z.int()], z.string())],
    ["values of a record", z.record(z.string(), z.int()), z.record(z.string(), z.number())],
    [
      "a record of what an object holds",
      z.object({ a: z.int() }),
      z.record(z.string(), z.number()),
    ],
    ["maps", z.map(z.string(), z.int()), z.map(z.string(), z.number())],
    ["sets", z.set(z.int()).max(1), z.set(z.number())],
    ["anything", z.date(), z.any()],
    [
      "a nested field that is optional",
      z.object({ a: z.int() }),
      z.object({ a: z.int(), b: z.int().optional() }),
    ],
    [
      "a nested field that need not be there",
      z.object({ a: z.int() }),
      z.object({ a: z.int().optional() }),
    ],
    ["a nested field in a list", list(z.object({ a: z.int() })), list(z.object({ a: z.number() }))],
    ["a nested object that takes others", z.object({ a: z.int() }), z.looseObject({ a: z.int() })],
  ])("that were allowed still are, and others: %s", (_, from, to) => {
    expect(compareField(from, to)).toMatchObject({ class: "safe", sideBySide: false });
    expect(compareField(to, from)?.class).toMatch(/data|breaking/);
  });

  it.each<[string, z.ZodType, z.ZodType]>([
    ["other formats", z.email(), z.url()],
    ["text and numbers", z.string(), z.number()],
    ["bounds on both sides", z.number().min(1).max(5), z.number().min(2).max(9)],
    ["other classes", z.instanceof(Uint8Array), z.instanceof(Date)],
    ["what transforms are given", z.string().transform(Number), z.int().transform(Number)],
    ["a list and one of it", z.string(), list(z.string())],
    [
      "a record with other keys",
      z.record(z.enum(["a"]), z.int()),
      z.record(z.enum(["b"]), z.int()),
    ],
    ["a tuple and a longer one", z.tuple([z.int()]), z.tuple([z.int(), z.int()])],
  ])("of other kinds need a migration: %s", (_, from, to) => {
    expect(compareField(from, to)).toMatchObject({ class: "data", sideBySide: false });
    expect(compareField(to, from)).toMatchObject({ class: "data", sideBySide: false });
  });

  it("that contain themselves are the same as far as one follows them", () => {
    expect(rows({ field: node }).hash).not.toBe(rows({ field: twin }).hash);
    expect(compare({ field: node }, { field: twin })).toEqual([]);
    expect(compare({ field: twin }, { field: node })).toEqual([]);
    const longer = z.object({ next: node.optional(), a: z.string() });
    expect(compareField(node, longer)).toMatchObject({ class: "data" });
  });

  it.each<[string, z.ZodType, z.ZodType, string, string]>([
    [
      "new and required",
      z.object({}),
      z.object({ street: z.string() }),
      "data",
      '"field.street" is new and required',
    ],
    [
      "required now",
      z.object({ a: z.int().optional() }),
      z.object({ a: z.int() }),
      "data",
      '"field.a" was optional',
    ],
    ["gone", z.object({ a: z.int() }), z.object({}), "breaking", '"field.a" is gone'],
    [
      "another",
      z.object({ a: list(z.object({ b: z.int() })) }),
      z.object({ a: list(z.object({ b: z.string() })) }),
      "data",
      '"field.a[].b" was an integer and is a string',
    ],
    [
      "gone where nothing may be",
      z.object({ a: z.int() }).nullable(),
      z.object({}).nullable(),
      "breaking",
      '"field.a" is gone',
    ],
  ])("within others are told by their path: %s", (_, from, to, kind, reason) => {
    expect(compareField(from, to)).toMatchObject({
      field: "field",
      class: kind,
      reason: expect.stringContaining(reason),
    });
  });
});

describe("the primary key", () => {
  const schema = z.object({ a: z.string(), b: z.string() });
  const otherKey = "The primary key was";
  const otherValues = "values of a primary key cannot be changed";
  it.each<[string, ReturnType<typeof rowManifest>, ReturnType<typeof rowManifest>, string]>([
    ["other fields", rowManifest(schema, ["a"]), rowManifest(schema, ["b"]), otherKey],
    ["another order", rowManifest(schema, ["a", "b"]), rowManifest(schema, ["b", "a"]), otherKey],
    [
      "another type",
      rowManifest(schema, ["a"]),
      rowManifest(schema.extend({ a: z.number() }), ["a"]),
      otherValues,
    ],
    [
      "narrower",
      rowManifest(schema, ["a"]),
      rowManifest(schema.extend({ a: z.ulid() }), ["a"]),
      otherValues,
    ],
  ])("cannot be another: %s", (_, from, to, reason) => {
    expect(keepsPrimaryKey(from, to)).toBe(false);
    expect(compareRows(from, to)).toContainEqual(
      expect.objectContaining({
        class: "breaking",
        reason: expect.stringContaining(reason),
      }),
    );
    for (const { reason } of compareRows(from, to))
      expect(reason).not.toContain("needs a migration");
  });

  it("may take more values", () => {
    const [from, to] = [
      rowManifest(schema.extend({ a: z.ulid() }), ["a"]),
      rowManifest(schema, ["a"]),
    ];
    expect(keepsPrimaryKey(from, to)).toBe(true);
    expect(compareRows(from, to)).toMatchObject([{ field: "a", class: "safe", sideBySide: false }]);
  });
});

const leaf = fc.constantFrom<z.ZodType>(
  z.string(),
  z.string().min(2),
  z.string().max(2),
  z.email(),
  z.enum(["a", "b"]),
  z.enum(["a"]),
  z.literal(["a", 1, null]),
  z.number(),
  z.int(),
  z.number().min(0),
  z.number().gt(0).max(5),
  z.date(),
  z.date().min(new Date(5)),
  z.bigint(),
  z.bigint().gte(3n),
  z.boolean(),
  z.null(),
  z.any(),
  z.instanceof(Uint8Array),
  z.literal(true),
  z.undefined(),
);
const containers: ((part: z.ZodType, other: z.ZodType) => z.ZodType)[] = [
  (part) => part,
  (part) => part.optional(),
  (part) => part.nullable(),
  (part, other) => z.union([other, part]),
  (part) => z.array(part),
  (part) => z.array(part).max(1),
  (part) => z.record(z.string(), part),
  (part) => z.set(part),
  (part, other) => z.map(part, other),
  (part, other) => z.tuple([part, other]),
  (part) => z.tuple([part], part),
  (part) => z.object({ a: part }),
  (part, other) => z.object({ a: part, b: other }),
  (part, other) => z.object({ a: part, b: other.optional() }),
  (part) => z.looseObject({ a: part }),
  (part, other) => z.object({ a: part }).catchall(other),
];
type Pair = readonly [z.ZodType, z.ZodType];
const wider = fc.constantFrom<Pair>(
  [z.int(), z.number()],
  [z.email(), z.string()],
  [z.string().max(2), z.string()],
  [z.enum(["a"]), z.enum(["a", "b"])],
  [z.enum(["a", "b"]), z.string()],
  [z.number().gt(0).max(5), z.number().min(0)],
  [z.date().min(new Date(5)), z.date()],
  [z.bigint().gte(3n), z.bigint()],
  [z.literal(true), z.boolean()],
  [z.string(), z.string().nullable()],
  [z.boolean(), z.union([z.boolean(), z.date()])],
  [z.string(), z.string().optional()],
  [z.date(), z.any()],
);
/** Pairs of schemas that are alike: most of what differs is somewhere within. */
const { pair: anyPair } = fc.letrec<{ pair: Pair }>((tie) => ({
  pair: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 3, arbitrary: wider },
    { weight: 1, arbitrary: fc.tuple(leaf, leaf) },
    { weight: 1, arbitrary: leaf.map((one): Pair => [one, one]) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(
          tie("pair"),
          tie("pair"),
          fc.constantFrom(...containers),
          fc.oneof(
            { weight: 4, arbitrary: fc.constant(undefined) },
            { weight: 1, arbitrary: fc.constantFrom(...containers) },
          ),
        )
        .map(([[a, b], [c, d], first, second]): Pair => [first(a, c), (second ?? first)(b, d)]),
    },
  ),
}));
const anyLeaf = fc.constantFrom<unknown>(
  "",
  "a",
  "ab",
  "b@c.de",
  0,
  1,
  -1,
  2.5,
  5,
  3n,
  1n,
  null,
  undefined,
  true,
  false,
  new Date(0),
  new Date(9),
  new Uint8Array(1),
);
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    { weight: 3, arbitrary: anyLeaf },
    { weight: 1, arbitrary: fc.array(tie("value"), { maxLength: 2 }) },
    { weight: 1, arbitrary: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value")) },
    {
      weight: 1,
      arbitrary: fc.array(tie("value"), { maxLength: 2 }).map((values) => new Set(values)),
    },
    { weight: 1, arbitrary: fc.tuple(tie("value"), tie("value")).map((pair) => new Map([pair])) },
  ),
}));

describe("all schemas", () => {
  it("do not differ from themselves", () => {
    fc.assert(
      fc.property(anyPair, ([schema]) => {
        expect(compare({ field: schema }, { field: schema })).toEqual([]);
      }),
    );
  });

  it("have every row of another from which they differ by what is safe", () => {
    let [safe, rowCount] = [0, 0];
    fc.assert(
      fc.property(
        anyPair,
        fc.array(anyValue, { minLength: 10, maxLength: 30 }),
        ([from, to], values) => {
          const changes = compare({ field: from }, { field: to });
          if (changes.length === 0 || changes.some((change) => change.class !== "safe")) return;
          safe++;
          const [before, after] = [from, to].map((field) => outputSchema(z.object({ field })));
          for (const value of values) {
            const row = before?.safeParse(value === undefined ? {} : { field: value });
            // What a schema strips is no part of a row that was written by it.
            if (!row?.success) continue;
            rowCount++;
            expect(after?.safeParse(row.data).success).toBe(true);
          }
        },
      ),
      { numRuns: 500 },
    );
    expect(safe).toBeGreaterThan(100);
    expect(rowCount).toBeGreaterThan(50);
  });
});
