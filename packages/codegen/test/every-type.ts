/**
 * Every kind of schema that a field can have, in code: alone, within others, and wrapped. The types
 * that are generated for them are compared with those that Zod infers.
 */
const everyType: Readonly<Record<string, string>> = {
  string: "z.string()",
  email: "z.email()",
  isoDate: "z.iso.datetime()",
  customFormat: 'z.stringFormat("even", (text) => text.length % 2 === 0)',
  number: "z.number()",
  int32: "z.int32()",
  nan: "z.nan()",
  bigint: "z.bigint()",
  int64: "z.int64()",
  boolean: "z.boolean()",
  date: "z.date()",
  nothing: "z.null()",
  undefinedOnly: "z.undefined()",
  voidOnly: "z.void()",
  anything: "z.any()",
  unknown: "z.unknown()",
  never: "z.never().optional()",
  symbol: "z.symbol()",
  literal: 'z.literal("it\'s \\"so\\"")',
  literals: 'z.literal(["a", 1, -2, 0.5, 3n, true, null, undefined])',
  literalInfinity: "z.literal(Infinity)",
  enumeration: 'z.enum(["a", "b c"])',
  enumObject: 'z.enum({ Small: "s", Large: "l" })',
  enumNumbers: "z.enum({ one: 1, two: 2 })",
  extracted: 'z.enum(["a", "b", "c"]).exclude(["c"])',
  templateLiteral: 'z.templateLiteral(["v", z.number(), z.enum(["a", "b"])])',
  stringBool: "z.stringbool()",
  bytes: "z.instanceof(Uint8Array)",
  refinedBytes: "z.instanceof(Uint8Array).refine((bytes) => bytes.length > 2)",
  floats: "z.instanceof(Float64Array)",
  buffer: "z.instanceof(ArrayBuffer)",
  url: "z.instanceof(URL)",
  pattern: "z.instanceof(RegExp)",
  classDate: "z.instanceof(Date)",
  classMap: "z.instanceof(Map)",
  ownClass: "z.instanceof(Point)",
  custom: "z.custom<`${number}px`>()",
  customUntyped: "z.custom()",
  optional: "z.string().optional()",
  exactOptional: "z.string().exactOptional()",
  nullable: "z.string().nullable()",
  nullish: "z.string().nullish()",
  nullableOptional: "z.string().optional().nullable()",
  defaulted: 'z.string().default("x")',
  defaultedOptional: 'z.string().optional().default("x")',
  defaultedNullable: "z.string().nullable().default(null)",
  optionalDefaulted: 'z.string().default("x").optional()',
  prefaulted: 'z.string().prefault("x")',
  prefaultedOptional: 'z.string().optional().prefault("x")',
  nonoptional: "z.string().optional().nonoptional()",
  caught: 'z.string().catch("x")',
  caughtNullable: 'z.string().catch("x").nullable()',
  caughtTransformed: 'z.string().catch("x").transform((text) => text.length)',
  preprocessedOptional: "z.preprocess((value) => value, z.number().optional())",
  preprocessedDefault: "z.preprocess((value) => value, z.number().default(1))",
  lazyOptional: "z.lazy(() => z.string().optional())",
  intersectionOptional: "z.intersection(z.string().optional(), z.string().optional())",
  unionDefault: 'z.union([z.string().default("x"), z.number()])',
  readonlyDefault: "z.array(z.string()).default([]).readonly()",
  tupleCaught: "z.tuple([z.string(), z.number().catch(1)])",
  caughtOptional: 'z.string().optional().catch("x")',
  coercedNumber: "z.coerce.number()",
  coercedDate: "z.coerce.date()",
  coercedNarrow: "z.coerce.bigint<string>()",
  coercedOptional: "z.coerce.number().optional()",
  transformed: "z.string().transform((text) => text.length)",
  transformedOptional: "z.string().optional().transform((text) => text?.length)",
  transformedThenChecked: "z.string().transform((text) => text.length).pipe(z.int())",
  piped: 'z.string().pipe(z.enum(["a", "b"]))',
  preprocessed: "z.preprocess((value) => Number(value), z.number())",
  codec:
    "z.codec(z.iso.datetime(), z.date(), { decode: (text) => new Date(text), encode: (date) => date.toISOString() })",
  overwritten: "z.string().trim().toLowerCase()",
  refined: 'z.string().refine((text) => text !== "")',
  object: "z.object({ a: z.string(), b: z.number().optional(), c: z.date().default(new Date()) })",
  emptyObject: "z.object({})",
  strictObject: "z.strictObject({ a: z.string() })",
  looseObject: "z.looseObject({ a: z.string() })",
  catchallSame: "z.object({ a: z.string() }).catchall(z.string())",
  catchallOther: "z.object({ a: z.string() }).catchall(z.number())",
  partialObject: "z.object({ a: z.string(), b: z.number() }).partial()",
  extendedObject: "z.object({ a: z.string() }).extend({ b: z.number() }).omit({ a: true })",
  strangeNames:
    'z.object({ "a-b": z.string(), "2": z.number(), class: z.boolean(), "quo\\"te": z.null() })',
  strangeReference: 'z.object({ "a-b": z.object({ c: z.custom<"x">(), d: z.string() }) })',
  nested:
    "z.object({ a: z.object({ b: z.object({ c: z.bigint().nullable() }).optional() }).nullish() })",
  nestedReference: "z.object({ a: z.object({ b: z.custom<`#${string}`>(), c: z.string() }) })",
  wrappedReference: "z.object({ a: z.custom<`#${string}`>() }).nullish().default(null)",
  arrayReference:
    "z.array(z.object({ a: z.array(z.custom<`#${string}`>()), b: z.string() })).optional()",
  array: "z.array(z.union([z.string(), z.number()]))",
  arrayOfArrays: "z.array(z.array(z.string().nullable()))",
  tuple: "z.tuple([z.string(), z.number().optional()])",
  tupleWithDefault: "z.tuple([z.string(), z.number().default(1)])",
  tupleInTheMiddle: "z.tuple([z.string().optional(), z.number(), z.boolean().optional()])",
  tupleWithRest: "z.tuple([z.string()], z.union([z.number(), z.null()]))",
  tupleEmpty: "z.tuple([])",
  record: "z.record(z.string(), z.number())",
  recordOfNumbers: "z.record(z.number(), z.string())",
  recordOfEnum: 'z.record(z.enum(["a", "b"]), z.number())',
  recordOfLiterals: 'z.record(z.literal(["a", 1]), z.number())',
  recordOfOptional: "z.record(z.string(), z.number().optional())",
  recordOfEnumWithDefaults: 'z.record(z.enum(["a", "b"]), z.number().default(1))',
  recordPartial: 'z.partialRecord(z.enum(["a", "b"]), z.number())',
  recordPartialOfStrings: "z.partialRecord(z.string(), z.number())",
  recordPartialOfBoth: "z.partialRecord(z.union([z.string(), z.number()]), z.date())",
  recordPartialOptional: "z.partialRecord(z.string(), z.number().optional())",
  recordOfBoth: "z.record(z.union([z.string(), z.number()]), z.date())",
  recordOfTemplates: 'z.record(z.templateLiteral(["x-", z.string()]), z.number())',
  map: "z.map(z.string(), z.array(z.date()))",
  set: "z.set(z.union([z.string(), z.bigint()]))",
  union: "z.union([z.string(), z.number(), z.object({ a: z.null() })])",
  unionWithUnknown: "z.union([z.string(), z.unknown()])",
  unionWithOptional: "z.union([z.string().optional(), z.number()])",
  unionWithReference: "z.union([z.string(), z.custom<5>()])",
  discriminated:
    'z.discriminatedUnion("kind", [z.object({ kind: z.literal("a"), x: z.number() }), z.object({ kind: z.literal("b") })])',
  exclusive: "z.xor([z.object({ a: z.string() }), z.object({ b: z.string() })])",
  intersection: "z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() }))",
  intersectionOfEqual: "z.intersection(z.string(), z.string().min(2))",
  unionOfLiteral: 'z.union([z.literal(["a", 1, true, 2n]), z.string(), z.number(), z.bigint()])',
  intersectionInArray: "z.array(z.object({ a: z.string() }).and(z.object({ b: z.number() })))",
  readonlyArray: "z.array(z.string()).readonly()",
  readonlyTuple: "z.tuple([z.string(), z.number()]).readonly()",
  readonlyRestTuple: "z.tuple([z.string().optional()], z.number()).readonly()",
  readonlyObject: "z.object({ a: z.string() }).readonly()",
  readonlyRecord: "z.record(z.string(), z.number()).readonly()",
  readonlyMap: "z.map(z.string(), z.number()).readonly()",
  readonlySet: "z.set(z.string()).readonly()",
  readonlyUnion: "z.union([z.array(z.string()), z.null()]).readonly()",
  readonlyOptional: "z.array(z.string()).optional().readonly()",
  readonlyString: "z.string().readonly()",
  json: "z.json()",
  otherJson: "z.json()",
  maybeJson: "z.json().default(null)",
  branded: 'z.string().brand<"UserId">()',
  brandedInput: 'z.string().default("x").brand<"Both", "inout">()',
  brandedWithin:
    'z.object({ a: z.object({ b: z.number().brand<"B">(), c: z.string() }), d: z.date() })',
  brandedElement: 'z.array(z.object({ a: z.bigint().brand<"A">(), b: z.string() }))',
  brandedOption: 'z.union([z.string().brand<"Option">(), z.null()])',
  brandedWhole: 'z.object({ a: z.string() }).brand<"Whole">()',
  role: "z.enum(Role)",
  roleNumbers: "z.enum(Level)",
  roleWithin: "z.object({ role: z.enum(Role).nullable(), note: z.any() })",
  annotated: "Annotated",
  annotatedWithin: "z.object({ cast: Annotated, note: z.string() })",
  annotatedReadonly: "z.array(z.string()) as z.ZodType<readonly string[], string[]>",
  anyWithin: "z.object({ list: z.array(z.any()), record: z.record(z.string(), z.any()) })",
  brandedTree: "BrandedTree",
  lazy: "z.lazy(() => z.object({ a: z.string() }))",
  tree: "Tree",
  trees: "z.array(Tree).optional()",
  list: "List",
  treeWithReference: "TreeWithReference",
  treeWithTransform: "z.object({ tree: TreeWithTransform, note: z.string() })",
  treeOfTrees: "z.union([Knot, z.null()])",
  treeInTrees: "Branch",
  function: "z.function({ input: [z.string()], output: z.number() })",
  promise: "z.promise(z.string())",
};

/**
 * The TypeScript enums of that module: in a file of declarations, since what is compiled here has
 * only erasable syntax.
 */
export const enums = {
  "enums.d.ts": `export declare enum Role { Admin = "admin", Guest = "guest" }
export declare enum Level { Low, High }
`,
  "enums.js": `export const Role = { Admin: "admin", Guest: "guest" };
export const Level = { 0: "Low", 1: "High", Low: 0, High: 1 };
`,
};

/** A module with a model that has all of them as fields. */
export const everyTypeModule = `import { defineModel } from "@keywright/orm";
import * as z from "zod";
import { Level, Role } from "../enums.js";

export class Point {
  readonly x: number = 0;
}

const Annotated: z.ZodType<{ a: string; b?: 1 | 2 }> = z.object({ a: z.string(), b: z.number() }) as never;

const BrandedTree = z.object({
  id: z.string().brand<"Tree">(),
  get children() {
    return z.array(BrandedTree);
  },
});

const Tree = z.object({
  value: z.number().default(0),
  get children() {
    return z.array(Tree);
  },
});

const List = z.object({
  value: z.string(),
  get next() {
    return List.nullable();
  },
});

const TreeWithReference = z.object({
  value: z.custom<\`#\${string}\`>(),
  get left() {
    return TreeWithReference.optional();
  },
});

const TreeWithTransform = z.object({
  value: z.union([z.string().transform((text) => text.length), z.null()]),
  get left() {
    return TreeWithTransform.optional();
  },
});

// Its type cannot be spelled out within a union, and that of its branches, which can, names it.
const Knot = z.object({
  get branch() {
    return Branch;
  },
  value: z.custom<\`#\${string}\`>(),
});
const Branch = z.object({
  get knot(): z.ZodOptional<typeof Knot> {
    return z.optional(Knot);
  },
  get branches() {
    return z.array(Branch);
  },
});

export const Everything = defineModel({
  name: "everything",
  schema: z.object({
    id: z.ulid(),
${Object.entries(everyType)
  .map(([field, schema]) => `    ${field}: ${schema},`)
  .join("\n")}
  }),
  primaryKey: "id",
});
`;
