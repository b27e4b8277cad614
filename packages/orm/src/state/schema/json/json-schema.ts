import * as z from "zod";
import * as core from "zod/v4/core";
import {
  definitionOf,
  type Schema,
  type SchemaDefinition,
} from "../../../model/fields/schema-definition.js";
import type { JsonSchema } from "../manifests/manifest.js";
import { normalizeJsonSchema, undefinedSchema, withoutUndefined } from "./normalize-json-schema.js";

type Json = Record<string, unknown>;

/**
 * Describes the values that a schema returns. The result is Zod's JSON Schema without titles,
 * descriptions and defaults, and does not depend on the order of fields and alternatives. Values
 * that JSON does not have get special types: `x-date`, `x-bigint`, `x-undefined`, `x-nan`,
 * `x-symbol`, `x-map`, `x-set`, `x-file`, `x-function` and `x-custom`. `x-instance` is an instance
 * of a class. `x-transform` is the result of a function for the values of `input`. Formats of
 * strings have Zod's names.
 *
 * The description does not depend on the code of functions: those of `refine`, `check`,
 * `overwrite`, `trim`, `z.custom` and transforms.
 */
export function jsonSchemaOf(schema: Schema): JsonSchema {
  return describe(schema, []);
}

/** True if a value, or a part of it, is the result of a transform, whose type is not described. */
export function hasTransform(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  const { type } = schema as JsonSchema;
  return type === "x-transform" || Object.values(schema).some(hasTransform);
}

/** @param ancestors the schemas that contain this one. It may be among them. */
function describe(schema: Schema, ancestors: readonly Schema[]): JsonSchema {
  if (ancestors.includes(schema)) return { type: "x-cycle" };
  const chain = [...ancestors, schema];
  const json = z.toJSONSchema(schema, {
    io: "output",
    unrepresentable: "any",
    metadata: z.registry(),
    override: ({ zodSchema, jsonSchema }) => {
      const target = jsonSchema as Json;
      delete target.default;
      const keywords = { ...(overrideFor(zodSchema, target, chain) ?? target) };
      for (const keyword of Object.keys(target)) delete target[keyword];
      Object.assign(target, keywords);
    },
  });
  return normalizeJsonSchema(json as JsonSchema);
}

/** Returns the description that replaces Zod's, if there is one. Parts are described already. */
function overrideFor(
  schema: Schema,
  json: Json,
  ancestors: readonly Schema[],
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
      return withoutKeywords(json, ["type"]);
    case "literal":
      return { enum: (def.values ?? []).map(literalJson) };
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
      const keys = describe(def.keyType ?? z.any(), ancestors);
      const values = describe(def.valueType ?? z.any(), ancestors);
      return { type: "x-map", keys, values, ...sizesOf(def) };
    }
    case "set": {
      const values = describe(def.valueType ?? z.any(), ancestors);
      return { type: "x-set", values, ...sizesOf(def) };
    }
    case "pipe": {
      const { in: input, out } = def;
      const isTransform = out !== undefined && definitionOf(out).type === "transform";
      if (!isTransform || input === undefined) return undefined;
      return { type: "x-transform", input: describe(input, ancestors) };
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

const unnamedFormats = new Set(["regex", "includes", "starts_with", "ends_with"]);

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

/** Describes all formats by name. Zod's JSON Schema has only one, whose pattern may change. */
function stringSchema(def: SchemaDefinition, json: Json): Json {
  const formats = checksOf(def).filter(({ check }) => check === "string_format");
  if (formats.length === 0) return json;
  const rest = withoutKeywords(json, ["format", "pattern", "allOf", "contentEncoding"]);
  const [only, ...others] = formats.map(describeFormat);
  return others.length === 0 ? { ...rest, ...only } : { ...rest, allOf: [only, ...others] };
}

function describeFormat(def: SchemaDefinition): Json {
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
    ...(pattern && !(isNamed && isZodPattern(def)) && patternOf(pattern)),
  };
}

function patternOf({ source, flags }: RegExp): Json {
  return { pattern: source, ...(flags !== "" && { flags }) };
}

const zodPatterns = new Set(
  Object.values(core.regexes).map((value) => (value instanceof RegExp ? value.source : "")),
);

function isZodPattern(def: SchemaDefinition): boolean {
  if (def.format === "base64" || def.format === "base64url") return true;
  const source = def.pattern?.source ?? "";
  if (zodPatterns.has(source) || source === core.regexes.uuid().source) return true;
  const options = def as unknown as { readonly precision?: number | null };
  if (def.format === "datetime") return source === core.regexes.datetime(options).source;
  return def.format === "time" && source === core.regexes.time(options).source;
}

function customSchema(schema: Schema): Json {
  const { Class } = schema._zod.bag as { readonly Class?: { readonly name: string } };
  return Class === undefined
    ? { type: "x-custom" }
    : { type: "x-instance", class: String(Class.name) };
}

function literalJson(value: unknown): unknown {
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

function bigintBounds(def: SchemaDefinition): Json {
  const checks = checksOf(def);
  const divisors = checks.filter(({ check }) => check === "multiple_of");
  const format = checks.find(({ check }) => check === "bigint_format")?.format;
  return {
    ...(format !== undefined && { format }),
    ...boundsOf(def, bigintText),
    ...(divisors.length > 0 && { multipleOf: divisors.map(({ value }) => String(value)).sort() }),
  };
}

function boundsOf(def: SchemaDefinition, text: (value: unknown) => string | undefined): Json {
  const bounds: Json = {};
  const limits: { [kind: string]: SchemaDefinition } = {};
  for (const check of checksOf(def)) {
    const isLower = check.check === "greater_than";
    if (!isLower && check.check !== "less_than") continue;
    const kind = isLower ? "minimum" : "maximum";
    const known = limits[kind];
    if (known === undefined || isTighter(check, known, isLower)) limits[kind] = check;
  }
  for (const [kind, { value, inclusive }] of Object.entries(limits)) {
    const name = inclusive ? kind : kind === "minimum" ? "exclusiveMinimum" : "exclusiveMaximum";
    bounds[name] = text(value);
  }
  return bounds;
}

function isTighter(a: SchemaDefinition, b: SchemaDefinition, isLower: boolean): boolean {
  const [x, y] = [a.value as bigint | Date, b.value as bigint | Date];
  if (x > y) return isLower;
  return x < y ? !isLower : a.inclusive !== true;
}

function sizesOf(def: SchemaDefinition): Json {
  let [minSize, maxSize] = [0, Number.POSITIVE_INFINITY];
  for (const { minimum = 0, maximum = Number.POSITIVE_INFINITY, size } of checksOf(def)) {
    minSize = Math.max(minSize, size ?? minimum);
    maxSize = Math.min(maxSize, size ?? maximum);
  }
  return {
    ...(minSize > 0 && { minItems: minSize }),
    ...(Number.isFinite(maxSize) && { maxItems: maxSize }),
  };
}

/** Returns the checks. A schema of a format, such as `z.email()`, is a check itself. */
function checksOf(def: SchemaDefinition): SchemaDefinition[] {
  const checks = (def.checks ?? []).map((check) => check._zod.def as SchemaDefinition);
  return def.check === undefined ? checks : [def, ...checks];
}

function withoutKeywords(json: Json, keywords: readonly string[]): Json {
  return Object.fromEntries(
    Object.entries(json).filter(([keyword]) => !keywords.includes(keyword)),
  );
}
