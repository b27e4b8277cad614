import * as z from "zod";
import type { JsonSchema } from "./manifest.js";
import { normalizeJsonSchema, undefinedSchema, withoutUndefined } from "./normalize-json-schema.js";

type Schema = z.core.$ZodType;
type Json = Record<string, unknown>;

/** The parts of a schema's definition, or of a check's, that its description is made of. */
interface Definition {
  readonly type: string;
  readonly check?: string;
  readonly checks?: readonly { readonly _zod: { readonly def: unknown } }[];
  readonly format?: string;
  readonly pattern?: RegExp;
  readonly value?: unknown;
  readonly values?: readonly unknown[];
  readonly inclusive?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly size?: number;
  readonly in?: Schema;
  readonly out?: Schema;
  readonly keyType?: Schema;
  readonly valueType?: Schema;
}

/**
 * Describes the values that a schema returns: its JSON Schema as Zod makes it, without words, titles and defaults, and the same
 * for every order of fields and alternatives. What JSON does not have gets a type of its own: `x-date`, `x-bigint`,
 * `x-undefined`, `x-nan`, `x-symbol`, `x-map`, `x-set`, `x-instance` of a class, `x-file`, `x-function`, `x-custom`, and
 * `x-transform` for what a function makes of the values of `input`. Formats of strings have Zod's names.
 *
 * It does not see what functions do: those of `refine`, `check`, `overwrite` and `trim`, of `z.custom`, and of transforms.
 */
export function jsonSchemaOf(schema: Schema): JsonSchema {
  return describe(schema, []);
}

/** @param within the schemas that are being described by documents of their own, which may contain themselves. */
function describe(schema: Schema, within: readonly Schema[]): JsonSchema {
  if (within.includes(schema)) return { type: "x-cycle" };
  const around = [...within, schema];
  const json = z.toJSONSchema(schema, {
    io: "output",
    unrepresentable: "any",
    metadata: z.registry(),
    override: ({ zodSchema, jsonSchema }) => {
      const given = jsonSchema as Json;
      delete given.default;
      const words = { ...(amended(zodSchema, given, around) ?? given) };
      for (const word of Object.keys(given)) delete given[word];
      Object.assign(given, words);
    },
  });
  return normalizeJsonSchema(json as JsonSchema);
}

/** What to say of a schema instead of what Zod says, which has done so of the schemas within; undefined for just that. */
function amended(
  schema: Schema,
  json: Json,
  within: readonly Schema[],
): Json | JsonSchema | undefined {
  const def = definitionOf(schema);
  switch (def.type) {
    case "string":
      return stringSchema(def, json);
    case "date":
      return { type: "x-date", ...boundsOf(def, dateText) };
    case "bigint":
      return { type: "x-bigint", ...bigintBounds(def) };
    case "enum":
      return withoutWords(json, ["type"]);
    case "literal":
      return { enum: (def.values ?? []).map(literalText) };
    case "undefined":
    case "void":
      return undefinedSchema;
    case "nan":
    case "symbol":
    case "file":
    case "function":
    case "transform":
      return { ...json, type: `x-${def.type}` };
    case "custom":
      return customSchema(schema);
    case "map": {
      const keys = describe(def.keyType ?? z.any(), within);
      const values = describe(def.valueType ?? z.any(), within);
      return { type: "x-map", keys, values, ...sizesOf(def) };
    }
    case "set": {
      const values = describe(def.valueType ?? z.any(), within);
      return { type: "x-set", values, ...sizesOf(def) };
    }
    case "pipe": {
      const { in: given, out } = def;
      const isTransform = out !== undefined && definitionOf(out).type === "transform";
      if (!isTransform || given === undefined) return undefined;
      return { type: "x-transform", input: describe(given, within) };
    }
    case "optional":
      return Object.keys(json).length > 0 ? { anyOf: [{ ...json }, undefinedSchema] } : undefined;
    case "default":
    case "prefault":
    case "nonoptional":
      return withoutUndefined(json);
    default:
      return undefined;
  }
}

/** Formats whose patterns say all that there is to say of them. */
const unnamedFormats = new Set(["regex", "includes", "starts_with", "ends_with"]);

/** What else Zod's own formats are told apart by. */
const formatOptions = [
  "version",
  "hostname",
  "protocol",
  "normalize",
  "alg",
  "precision",
  "offset",
  "local",
] as const;

/** Zod says one format of a string and changes the patterns of some from one version to the next: so they are named, all of them. */
function stringSchema(def: Definition, json: Json): Json {
  const formats = checksOf(def).filter(({ check }) => check === "string_format");
  if (formats.length === 0) return json;
  const rest = withoutWords(json, ["format", "pattern", "allOf", "contentEncoding"]);
  const [only, ...others] = formats.map(describeFormat);
  return others.length === 0 ? { ...rest, ...only } : { ...rest, allOf: [only, ...others] };
}

function describeFormat(def: Definition): Json {
  const { format = "", pattern } = def;
  const options: Json = {};
  for (const option of formatOptions) {
    const value = (def as unknown as Json)[option];
    if (value === undefined || value === null || value === false) continue;
    options[option] = value instanceof RegExp ? String(value) : value;
  }
  const isNamed = !unnamedFormats.has(format);
  return {
    ...(isNamed && { format, ...options }),
    ...(pattern && !(isNamed && isOwnPattern(def)) && patternOf(pattern)),
  };
}

function patternOf({ source, flags }: RegExp): Json {
  return { pattern: source, ...(flags !== "" && { flags }) };
}

const ownPatterns = new Set(
  Object.values(z.core.regexes).map((value) => (value instanceof RegExp ? value.source : "")),
);

function isOwnPattern(def: Definition): boolean {
  if (def.format === "base64" || def.format === "base64url") return true;
  const source = def.pattern?.source ?? "";
  if (ownPatterns.has(source) || source === z.core.regexes.uuid().source) return true;
  const options = def as unknown as { readonly precision?: number | null };
  if (def.format === "datetime") return source === z.core.regexes.datetime(options).source;
  return def.format === "time" && source === z.core.regexes.time(options).source;
}

function customSchema(schema: Schema): Json {
  const { Class } = schema._zod.bag as { readonly Class?: { readonly name: string } };
  return Class === undefined
    ? { type: "x-custom" }
    : { type: "x-instance", class: String(Class.name) };
}

/** JSON of a literal value, also of those that JSON does not have. */
function literalText(value: unknown): unknown {
  if (typeof value === "bigint") return { "x-bigint": String(value) };
  if (value === undefined) return undefinedSchema;
  if (typeof value === "number" && !Number.isFinite(value)) return { "x-number": String(value) };
  return value;
}

function dateText(value: unknown): string | undefined {
  return value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : undefined;
}

function bigintText(value: unknown): string | undefined {
  return typeof value === "bigint" ? String(value) : undefined;
}

function bigintBounds(def: Definition): Json {
  const checks = checksOf(def);
  const divisors = checks.filter(({ check }) => check === "multiple_of");
  const format = checks.find(({ check }) => check === "bigint_format")?.format;
  return {
    ...(format !== undefined && { format }),
    ...boundsOf(def, bigintText),
    ...(divisors.length > 0 && { multipleOf: divisors.map(({ value }) => String(value)).sort() }),
  };
}

/** The tightest of the bounds that checks set, as text. */
function boundsOf(def: Definition, text: (value: unknown) => string | undefined): Json {
  const bounds: Json = {};
  const limits: { [word: string]: Definition } = {};
  for (const check of checksOf(def)) {
    const isLower = check.check === "greater_than";
    if (!isLower && check.check !== "less_than") continue;
    const word = isLower ? "minimum" : "maximum";
    const known = limits[word];
    if (known === undefined || isTighter(check, known, isLower)) limits[word] = check;
  }
  for (const [word, { value, inclusive }] of Object.entries(limits)) {
    const name = inclusive ? word : word === "minimum" ? "exclusiveMinimum" : "exclusiveMaximum";
    bounds[name] = text(value);
  }
  return bounds;
}

function isTighter(a: Definition, b: Definition, isLower: boolean): boolean {
  const [x, y] = [a.value as bigint | Date, b.value as bigint | Date];
  if (x > y) return isLower;
  return x < y ? !isLower : a.inclusive !== true;
}

/** How many elements a map or a set may have. */
function sizesOf(def: Definition): Json {
  let [least, most] = [0, Number.POSITIVE_INFINITY];
  for (const { minimum = 0, maximum = Number.POSITIVE_INFINITY, size } of checksOf(def)) {
    least = Math.max(least, size ?? minimum);
    most = Math.min(most, size ?? maximum);
  }
  return {
    ...(least > 0 && { minItems: least }),
    ...(Number.isFinite(most) && { maxItems: most }),
  };
}

/** The definitions of a schema's checks; one of a format is a check itself. */
function checksOf(def: Definition): Definition[] {
  const checks = (def.checks ?? []).map((check) => check._zod.def as Definition);
  return def.check === undefined ? checks : [def, ...checks];
}

function withoutWords(json: Json, words: readonly string[]): Json {
  return Object.fromEntries(Object.entries(json).filter(([word]) => !words.includes(word)));
}

function definitionOf(schema: Schema): Definition {
  return schema._zod.def as unknown as Definition;
}
