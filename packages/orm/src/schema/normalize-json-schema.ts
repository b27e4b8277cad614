import { canonicalJson } from "./hash.js";
import type { JsonSchema } from "./manifest.js";

/** Of a value that is undefined, which JSON does not have. */
export const undefinedSchema: JsonSchema = { type: "x-undefined" };

/** Words for people, and what says nothing of stored values. */
const annotations = new Set(
  "$schema $id id $comment title description default examples readOnly writeOnly deprecated".split(
    " ",
  ),
);

/** Those whose values are schemas by name. */
const maps = new Set(["properties", "patternProperties"]);

/** Those whose values are schemas, or lists of them. */
const parts = new Set("items prefixItems additionalProperties propertyNames allOf not".split(" "));

interface Walk {
  /** The definitions that are there, by their names, and those that were met, by their new ones. */
  readonly given: Readonly<Record<string, JsonSchema>>;
  readonly names: Map<string, string>;
}

/**
 * The same schema in the one form that is compared and hashed: alternatives in `anyOf`, in order and each once, literals in
 * one `enum`, definitions named in the order in which they are met, no annotations.
 */
export function normalizeJsonSchema(schema: JsonSchema): JsonSchema {
  const { $defs = {}, ...root } = schema;
  const walk: Walk = { given: $defs as Walk["given"], names: new Map() };
  const normal = normalize(root, walk);
  const definitions: Record<string, JsonSchema> = {};
  // The map grows while it is gone through.
  for (const [given, name] of walk.names)
    definitions[name] = normalize(walk.given[given] ?? {}, walk);
  if (walk.names.size === 0) return normal;
  const used = usedOf(normal, definitions);
  const whole = { ...normal, ...(used.size > 0 && { $defs: pick(definitions, used) }) };
  // What is anything else too says nothing of its own definitions: without them the others have other names.
  return used.size < walk.names.size ? normalizeJsonSchema(whole) : whole;
}

/** The names of the definitions that a schema refers to, also by others of them. */
function usedOf(
  schema: unknown,
  definitions: Readonly<Record<string, JsonSchema>>,
  used = new Set<string>(),
): ReadonlySet<string> {
  if (typeof schema !== "object" || schema === null) return used;
  for (const [word, value] of Object.entries(schema)) {
    const name = word === "$ref" && typeof value === "string" ? nameOfReference(value) : undefined;
    if (name === undefined) usedOf(value, definitions, used);
    else if (!used.has(name)) usedOf(definitions[name], definitions, used.add(name));
  }
  return used;
}

function pick<T>(record: Readonly<Record<string, T>>, names: ReadonlySet<string>) {
  return Object.fromEntries(Object.entries(record).filter(([name]) => names.has(name)));
}

function normalize(schema: unknown, walk: Walk): JsonSchema {
  if (schema === false) return { not: {} };
  if (typeof schema !== "object" || schema === null) return {};
  const { anyOf, oneOf, type, ...rest } = schema as JsonSchema;
  const result: Record<string, unknown> = typeof type === "string" ? { type } : {};
  for (const word of Object.keys(rest).sort()) {
    const value = rest[word];
    if (annotations.has(word) || value === null || value === undefined) continue;
    result[word] = normalizeWord(word, value, walk);
  }
  sortRequired(result);
  const types = Array.isArray(type) ? type.map((one: unknown) => ({ type: one })) : undefined;
  const alternatives: unknown = anyOf ?? oneOf ?? types;
  if (!Array.isArray(alternatives)) return unionOf([result]);
  const normal = alternatives.map((alternative) => normalize(alternative, walk));
  if (Object.keys(result).length === 0) return unionOf(normal);
  return { ...result, anyOf: alternativesOf(unionOf(normal)) };
}

function normalizeWord(word: string, value: unknown, walk: Walk): unknown {
  if (word === "$ref") return newReference(String(value), walk);
  if (maps.has(word)) {
    const schemas = Object.entries(value as JsonSchema).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(schemas.map(([name, schema]) => [name, normalize(schema, walk)]));
  }
  if (!parts.has(word)) return value;
  if (!Array.isArray(value)) return value === false ? false : normalize(value, walk);
  const schemas = value.map((schema) => normalize(schema, walk));
  return word === "allOf" ? inOrder(schemas) : schemas;
}

function newReference(reference: string, { names }: Walk): string {
  const given = nameOfReference(reference);
  if (given === undefined) return reference;
  const name = names.get(given) ?? `schema${names.size + 1}`;
  names.set(given, name);
  return `#/$defs/${name}`;
}

/** `"#/$defs/schema1"` → `"schema1"`; undefined for another place. */
function nameOfReference(reference: string): string | undefined {
  return /^#\/(?:\$defs|definitions)\/(.*)$/.exec(reference)?.[1];
}

/** A property that may be anything may be absent, and one that may be absent may be undefined. */
function sortRequired(schema: Record<string, unknown>): void {
  const { properties, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  delete schema.required;
  const names = required.filter((name) => !isEmpty(properties?.[name])).sort();
  if (names.length > 0) schema.required = names;
  if (properties === undefined) return;
  const given = Object.entries(properties).map(([name, property]) => [
    name,
    names.includes(name) ? property : withoutUndefined(property),
  ]);
  schema.properties = Object.fromEntries(given);
}

/** One schema for values that fit any of some. */
function unionOf(schemas: readonly JsonSchema[]): JsonSchema {
  const flat = schemas.flatMap(alternativesOf).filter((schema) => !isNothing(schema));
  if (flat.some(isEmpty)) return {};
  const literals = new Map<string, unknown>();
  const others: JsonSchema[] = [];
  for (const schema of flat) {
    const values = valuesOf(schema);
    if (values === undefined) others.push(schema);
    else for (const value of values) literals.set(canonicalJson(value), value);
  }
  if (literals.delete("null")) others.push({ type: "null" });
  const undefinedText = canonicalJson(undefinedSchema);
  if (literals.delete(undefinedText)) others.push(undefinedSchema);
  if (literals.has("true") && literals.has("false")) {
    literals.delete("true");
    literals.delete("false");
    others.push({ type: "boolean" });
  }
  if (literals.size > 0) {
    const texts = [...literals.keys()].sort();
    others.push({ enum: texts.map((text) => literals.get(text)) });
  }
  const distinct = inOrder(others);
  if (distinct.length === 0) return { not: {} };
  return distinct.length === 1 ? (distinct[0] ?? {}) : { anyOf: distinct };
}

function inOrder(schemas: readonly JsonSchema[]): JsonSchema[] {
  const byText = new Map(schemas.map((schema) => [canonicalJson(schema), schema]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, schema]) => schema);
}

/** The literal values that a schema is of; undefined where it is of others. */
function valuesOf(schema: JsonSchema): readonly unknown[] | undefined {
  if ("const" in schema) return [schema.const];
  return Array.isArray(schema.enum) ? (schema.enum as readonly unknown[]) : undefined;
}

/** The alternatives of a schema: itself where it has none. */
export function alternativesOf(schema: JsonSchema): readonly JsonSchema[] {
  const { anyOf } = schema;
  return Array.isArray(anyOf) && Object.keys(schema).every((word) => isOfUnion(word))
    ? (anyOf as readonly JsonSchema[])
    : [schema];
}

function isOfUnion(word: string): boolean {
  return word === "anyOf" || word === "$defs";
}

/** The same schema for values that are not undefined. */
export function withoutUndefined(schema: JsonSchema): JsonSchema {
  const alternatives = alternativesOf(schema);
  const isUndefined = ({ type }: JsonSchema) => type === undefinedSchema.type;
  if (!alternatives.some(isUndefined)) return schema;
  const left = alternatives.filter((alternative) => !isUndefined(alternative));
  const { $defs } = schema;
  const [only, ...others] = left;
  const union = only !== undefined && others.length === 0 ? only : { anyOf: left };
  return { ...(only === undefined ? { not: {} } : union), ...($defs !== undefined && { $defs }) };
}

/** Whether any value fits a schema. */
export function isEmpty(schema: JsonSchema | undefined): boolean {
  return schema !== undefined && Object.keys(schema).every((word) => word === "$defs");
}

/** Whether no value fits a schema. */
export function isNothing(schema: JsonSchema): boolean {
  return typeof schema.not === "object" && schema.not !== null && isEmpty(schema.not as JsonSchema);
}
