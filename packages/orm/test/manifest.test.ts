import { denoOrder } from "@keywright/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { compileModel } from "../src/codegen.js";
import { belongsTo, defineModel, desc, hasMany, type Model } from "../src/index.js";
import type { FieldManifest } from "../src/state/schema/manifests/manifest.js";
import {
  modelManifest,
  parseRelationText,
  relationTexts,
  schemaManifest,
} from "../src/state/schema/manifests/model-manifest.js";
import { rowManifest } from "../src/state/schema/manifests/row-manifest.js";

const id = z.string();
const manifest = (shape: Record<string, z.ZodType>) =>
  rowManifest(z.object({ id, ...shape }), ["id"]);
const field = (schema: z.ZodType): FieldManifest | undefined =>
  manifest({ field: schema }).fields.field;
const values = (schema: z.ZodType) => field(schema)?.schema;

interface Node {
  readonly next?: Node | undefined;
}
const node: z.ZodType<Node> = z.object({
  get next() {
    return node.optional();
  },
});
const tree: z.ZodType = z.lazy(() => z.map(z.string(), tree));

describe("the manifest of rows", () => {
  it("has no definitions of what anything else may stand for", () => {
    expect(values(z.union([z.array(node), z.unknown()]))).toEqual({});
    expect(values(z.tuple([z.union([z.json(), z.any()]), node]))).toEqual(
      values(z.tuple([z.any(), node])),
    );
    expect(values(z.tuple([node]))).toHaveProperty("$defs.schema1");
  });

  it.each<[string, z.ZodType, object]>([
    ["text", z.string().min(2), { type: "string", minLength: 2 }],
    ["formats, by Zod's names", z.email(), { type: "string", format: "email" }],
    ["versions of a format", z.uuidv4(), { type: "string", format: "uuid", version: "v4" }],
    [
      "several formats",
      z.email().startsWith("a"),
      {
        type: "string",
        allOf: [{ format: "email" }, { pattern: "^a.*" }],
      },
    ],
    ["flags of a pattern", z.string().regex(/a/i), { type: "string", pattern: "a", flags: "i" }],
    [
      "hosts of an address",
      z.url({ hostname: /x/ }),
      { type: "string", format: "url", hostname: "/x/" },
    ],
    [
      "times",
      z.iso.datetime({ offset: true }),
      { type: "string", format: "datetime", offset: true },
    ],
    ["dates", z.date(), { type: "x-date" }],
    [
      "bounds of dates",
      z.date().min(new Date(5)).min(new Date(0)),
      {
        type: "x-date",
        minimum: "1970-01-01T00:00:00.005Z",
      },
    ],
    [
      "bigints",
      z.bigint().gt(5n).gte(5n).lt(9n).multipleOf(3n),
      {
        type: "x-bigint",
        exclusiveMinimum: "5",
        exclusiveMaximum: "9",
        multipleOf: ["3"],
      },
    ],
    ["bytes", z.instanceof(Uint8Array), { type: "x-instance", class: "Uint8Array" }],
    ["what a function checks", z.custom<string>(), { type: "x-custom" }],
    [
      "maps",
      z.map(z.string(), z.date()).min(1),
      {
        type: "x-map",
        keys: { type: "string" },
        values: { type: "x-date" },
        minItems: 1,
      },
    ],
    [
      "sets",
      z.set(z.number()).size(2),
      {
        type: "x-set",
        values: { type: "number" },
        minItems: 2,
        maxItems: 2,
      },
    ],
    [
      "maps of themselves",
      tree,
      {
        type: "x-map",
        keys: { type: "string" },
        values: { type: "x-cycle" },
      },
    ],
    [
      "objects of themselves",
      node as z.ZodType,
      {
        type: "object",
        properties: { next: { $ref: "#" } },
        additionalProperties: false,
      },
    ],
    ["symbols", z.symbol(), { type: "x-symbol" }],
    ["NaN", z.nan(), { type: "x-nan" }],
    ["nothing", z.never(), { not: {} }],
    [
      "what a transform is given",
      z.string().transform((text) => text.length),
      {
        type: "x-transform",
        input: { type: "string" },
      },
    ],
    [
      "the far side of a codec",
      z.codec(z.string(), z.date(), {
        decode: (text) => new Date(text),
        encode: (date) => date.toISOString(),
      }),
      { type: "x-date" },
    ],
    [
      "what stands behind a preparation",
      z.preprocess((value) => value, z.number()),
      { type: "number" },
    ],
    [
      "alternatives in order",
      z.union([z.string(), z.null(), z.number()]),
      {
        anyOf: [{ type: "null" }, { type: "number" }, { type: "string" }],
      },
    ],
    [
      "literals",
      z.literal(["b", "a", 1n, null]),
      {
        anyOf: [{ enum: ["a", "b", { "x-bigint": "1" }] }, { type: "null" }],
      },
    ],
    ["both booleans", z.literal([true, false]), { type: "boolean" }],
    [
      "what may be undefined in a list",
      z.array(z.string().optional()),
      {
        type: "array",
        items: { anyOf: [{ type: "string" }, { type: "x-undefined" }] },
      },
    ],
    [
      "what may be absent in an object",
      z.object({ a: z.string().optional(), b: z.any() }),
      {
        type: "object",
        properties: { a: { type: "string" }, b: {} },
        additionalProperties: false,
      },
    ],
  ])("describes %s", (_, schema, expected) => {
    expect(values(schema)).toEqual(expected);
  });

  it.each<[string, z.ZodType, boolean, boolean]>([
    ["a plain field", z.string(), false, false],
    ["an optional one", z.string().optional(), true, false],
    ["a nullable one", z.string().nullable(), false, false],
    ["one with a default", z.string().default("a"), false, true],
    ["one with a default before it is parsed", z.string().prefault("a"), false, true],
    ["one with a default within", z.string().default("a").nullable().readonly(), false, true],
    ["one with a default that is optional", z.string().default("a").optional(), true, true],
    ["one with a default before a pipe", z.string().default("a").pipe(z.string()), false, true],
    ["one with something for what is wrong", z.string().catch("a"), false, true],
    ["one that may be anything", z.any(), true, false],
    ["what a transform makes", z.string().transform((text) => text), true, false],
    [
      "a union whose first that takes nothing has a default",
      z.union([z.string().default("a"), z.undefined()]),
      false,
      true,
    ],
    ["one that is not optional again", z.nonoptional(z.string().optional()), false, false],
  ])("says of %s whether it may be absent and is filled in", (_, schema, optional, defaulted) => {
    expect(field(schema)).toMatchObject({ optional, defaulted });
  });

  it("does not run the functions of a schema", () => {
    const fail = (): string => {
      throw new Error("called");
    };
    const schema = z
      .string()
      .refine(() => fail() === "")
      .transform(fail)
      .pipe(z.string())
      .default(fail);
    expect(field(schema)).toEqual({ schema: { type: "string" }, optional: false, defaulted: true });
  });

  it.each<[string, z.ZodType, z.ZodType]>([
    ["descriptions", z.string(), z.string().describe("x").meta({ title: "y", id: "z" })],
    ["the value of a default", z.string().default("a"), z.string().default("b")],
    ["readonly", z.array(z.string()), z.array(z.string()).readonly()],
    ["refinements", z.string(), z.string().refine(() => true)],
    ["the order of values", z.enum(["a", "b"]), z.enum(["b", "a"])],
    [
      "the order of alternatives",
      z.union([z.string(), z.number()]),
      z.union([z.number(), z.string()]),
    ],
    ["one literal and an enum of it", z.literal("a"), z.enum(["a"])],
    [
      "how alternatives are told apart",
      z.discriminatedUnion("k", [z.object({ k: z.literal(1) }), z.object({ k: z.literal(2) })]),
      z.union([z.object({ k: z.literal(2) }), z.object({ k: z.literal(1) })]),
    ],
    ["the order of fields within", z.object({ a: id, b: node }), z.object({ b: node, a: id })],
    ["refinements of dates", z.date(), z.date().refine(() => true)],
  ])("does not tell %s", (_, a, b) => {
    expect(manifest({ a }).hash).toBe(manifest({ a: b }).hash);
  });

  it("has a field * of what a loose object may hold beside its own", () => {
    const { fields } = rowManifest(z.object({ id }).catchall(z.number()), ["id"]);
    expect(fields["*"]).toEqual({ schema: { type: "number" }, optional: true, defaulted: false });
    expect(rowManifest(z.looseObject({ id }), ["id"]).fields["*"]?.schema).toEqual({});
    expect(rowManifest(z.strictObject({ id }), ["id"]).fields).not.toHaveProperty("*");
  });

  it("is of the primary key too, in its order", () => {
    const schema = z.object({ a: id, b: id });
    expect(rowManifest(schema, ["a", "b"]).hash).not.toBe(rowManifest(schema, ["b", "a"]).hash);
  });

  const kinds = fc.dictionary(
    fc.string({ minLength: 1, maxLength: 3 }).filter((name) => name !== "__proto__"),
    fc.constantFrom<z.ZodType>(
      id,
      z.date(),
      node as z.ZodType,
      z.enum(["a", "b"]),
      z.int().optional(),
    ),
  );
  it("is the same for every order of the fields, each time, and plain data", () => {
    fc.assert(
      fc.property(kinds, (shape) => {
        const schema = z.object(shape);
        const reversed = z.object(Object.fromEntries(Object.entries(shape).reverse()));
        const made = rowManifest(schema, []);
        expect(rowManifest(reversed, [])).toEqual(made);
        expect(rowManifest(schema, [])).toEqual(made);
        expect(JSON.parse(JSON.stringify(made))).toEqual(made);
      }),
    );
  });
});

describe("the manifest of a model", () => {
  const Team = defineModel({
    name: "teams",
    schema: z.object({ id }),
    primaryKey: "id",
    relations: { people: hasMany("people", "teamId") },
  });
  const Person = defineModel({
    name: "people",
    schema: z.object({ id, teamId: z.string(), name: z.string() }),
    primaryKey: "id",
    indexes: { byTeam: { key: "teamId", count: true }, byName: { key: "name", unique: true } },
    relations: { team: belongsTo("teams", "teamId", { onDelete: "cascade" }) },
    count: true,
  });

  it("is all of it, as plain data", () => {
    const made = modelManifest(compileModel(Person));
    expect(made).toMatchObject({
      name: "people",
      prefix: "people",
      indexes: {
        byName: { prefix: "people_by_name", unique: true },
        byTeam: { fields: ["teamId"] },
      },
      counters: ["", "byTeam"],
      relations: {
        team: { kind: "belongsTo", model: "teams", fields: ["teamId"], onDelete: "cascade" },
      },
      live: false,
    });
    expect(made.row).toEqual(rowManifest(Person.schema, ["id"]));
    expect(JSON.parse(JSON.stringify(made))).toEqual(made);
  });

  it("is another for another index, relation, name or counter", () => {
    const changes = [{}, { indexes: {} }, { relations: {} }, { name: "folk" }, { count: false }];
    const hashes = changes.map(
      (change) => modelManifest(compileModel({ ...Person, ...change } as never)).hash,
    );
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it("is another in Deno's order if a descending part can be a number or a bigint", () => {
    const indexed = (type: z.ZodType, normalize?: (value: unknown) => string) =>
      defineModel({
        name: "indexed",
        schema: z.object({ id: z.string(), at: type }),
        primaryKey: "id",
        indexes: { byAt: { key: desc("at"), ...(normalize && { normalize }) } },
      } as never);
    const isOther = (model: Model) =>
      modelManifest(compileModel(model)).hash !==
      modelManifest(compileModel(model, denoOrder)).hash;
    const number = z.number().optional();
    expect(
      [number, z.date(), z.bigint(), z.string()].map((type) => isOther(indexed(type))),
    ).toEqual([false, false, false, false]);
    const mixed = [
      z.union([number, z.bigint()]),
      z.unknown(),
      z.literal([1, 2n]),
      z.lazy(() => z.any()),
    ];
    expect(mixed.map((type) => isOther(indexed(type)))).toEqual([true, true, true, true]);
    expect(isOther(indexed(z.string(), String))).toBe(true);
    expect(isOther(Person)).toBe(false);
  });

  it("stands by the model's name among others", () => {
    const { format, models } = schemaManifest([Team, Person].map((model) => compileModel(model)));
    expect(format).toBe(1);
    expect(Object.keys(models)).toEqual(["people", "teams"]);
  });

  it("says of what rows refer to, whatever the relation's name", () => {
    const [text = "", ...others] = relationTexts(compileModel(Person));
    expect(others).toEqual([]);
    expect(text).toBe('["teamId"] → "teams", onDelete: cascade');
    expect(parseRelationText(text)).toEqual({
      fields: ["teamId"],
      model: "teams",
      onDelete: "cascade",
      copy: {},
    });
    const renamed = { ...Person, relations: { group: Person.relations.team } };
    expect(relationTexts(compileModel(renamed as never))).toEqual([text]);
    expect(relationTexts(compileModel(Team))).toEqual([]);
    expect(parseRelationText("something")).toBeUndefined();
  });
});
