import { canonicalJson } from "../manifests/hash.js";
import type { JsonSchema } from "../manifests/manifest.js";

/** The schema of undefined, which JSON does not have. */
export const undefinedSchema: JsonSchema = { type: "x-undefined" };

/** Keywords that do not restrict stored values. */
const annotations = new Set(
  "$schema $id id $comment title description default examples readOnly writeOnly deprecated".split(
    " ",
  ),
);

/** Keywords whose value is an object of schemas. */
const schemaMapKeywords = new Set(["properties", "patternProperties"]);

/** Keywords whose value is a schema or a list of schemas. */
const schemaKeywords = new Set(
  "items prefixItems additionalProperties propertyNames allOf not".split(" "),
);

interface Walk {
  readonly given: Readonly<Record<string, JsonSchema>>;
  readonly names: Map<string, string>;
}

/**
 * Returns the schema in the form that is compared and hashed. Alternatives are in `anyOf`, sorted
 * and without duplicates. Literals are in one `enum`. Definitions are named in the order in which
 * they are first referred to. Annotations are removed.
 */
export function normalizeJsonSchema(schema: JsonSchema): JsonSchema {
  const { $defs = {}, ...root } = schema;
  const walk: Walk = { given: $defs as Walk["given"], names: new Map() };
  const normal = normalize(root, walk);
  const definitions: Record<string, JsonSchema> = {};
  // Normalizing a definition may add more names to the map.
  for (const [oldName, name] of walk.names)
    definitions[name] = normalize(walk.given[oldName] ?? {}, walk);
  if (walk.names.size === 0) return normal;
  const used = findUsed(normal, definitions);
  const whole = { ...normal, ...(used.size > 0 && { $defs: pick(definitions, used) }) };
  // An alternative that takes any value replaces the others, and with them their references. The
  // definitions that are left get new names.
  return used.size < walk.names.size ? normalizeJsonSchema(whole) : whole;
}

function findUsed(
  schema: unknown,
  definitions: Readonly<Record<string, JsonSchema>>,
  found = new Set<string>(),
): ReadonlySet<string> {
  if (typeof schema !== "object" || schema === null) return found;
  for (const [keyword, value] of Object.entries(schema)) {
    const name =
      keyword === "$ref" && typeof value === "string" ? nameOfReference(value) : undefined;
    if (name === undefined) findUsed(value, definitions, found);
    else if (!found.has(name)) findUsed(definitions[name], definitions, found.add(name));
  }
  return found;
}

function pick<T>(record: Readonly<Record<string, T>>, names: ReadonlySet<string>) {
  return Object.fromEntries(Object.entries(record).filter(([name]) => names.has(name)));
}

function normalize(schema: unknown, walk: Walk): JsonSchema {
  if (schema === false) return { not: {} };
  if (typeof schema !== "object" || schema === null) return {};
  const { anyOf, oneOf, type, ...rest } = schema as JsonSchema;
  const result: Record<string, unknown> = typeof type === "string" ? { type } : {};
  for (const keyword of Object.keys(rest).sort()) {
    const value = rest[keyword];
    if (annotations.has(keyword) || value === null || value === undefined) continue;
    result[keyword] = normalizeKeyword(keyword, value, walk);
  }
  normalizeRequired(result);
  const types = Array.isArray(type) ? type.map((one: unknown) => ({ type: one })) : undefined;
  const alternatives: unknown = anyOf ?? oneOf ?? types;
  if (!Array.isArray(alternatives)) return unionOf([result]);
  const normal = alternatives.map((alternative) => normalize(alternative, walk));
  if (Object.keys(result).length === 0) return unionOf(normal);
  return { ...result, anyOf: alternativesOf(unionOf(normal)) };
}

function normalizeKeyword(keyword: string, value: unknown, walk: Walk): unknown {
  if (keyword === "$ref") return newReference(String(value), walk);
  if (schemaMapKeywords.has(keyword)) {
    const schemas = Object.entries(value as JsonSchema).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(schemas.map(([name, schema]) => [name, normalize(schema, walk)]));
  }
  if (!schemaKeywords.has(keyword)) return value;
  if (!Array.isArray(value)) return value === false ? false : normalize(value, walk);
  const schemas = value.map((schema) => normalize(schema, walk));
  return keyword === "allOf" ? inOrder(schemas) : schemas;
}

function newReference(reference: string, { names }: Walk): string {
  const oldName = nameOfReference(reference);
  if (oldName === undefined) return reference;
  const name = names.get(oldName) ?? `schema${names.size + 1}`;
  names.set(oldName, name);
  return `#/$defs/${name}`;
}

/** `"#/$defs/schema1"` → `"schema1"`. Undefined if the reference is not to a definition. */
function nameOfReference(reference: string): string | undefined {
  return /^#\/(?:\$defs|definitions)\/(.*)$/.exec(reference)?.[1];
}

/** A property of any value counts as optional. An optional one does not list undefined. */
function normalizeRequired(schema: Record<string, unknown>): void {
  const { properties, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  delete schema.required;
  const names = required.filter((name) => !acceptsAnything(properties?.[name])).sort();
  if (names.length > 0) schema.required = names;
  if (properties === undefined) return;
  const entries = Object.entries(properties).map(([name, property]) => [
    name,
    names.includes(name) ? property : withoutUndefined(property),
  ]);
  schema.properties = Object.fromEntries(entries);
}

function unionOf(schemas: readonly JsonSchema[]): JsonSchema {
  const flat = schemas.flatMap(alternativesOf).filter((schema) => !acceptsNothing(schema));
  if (flat.some(acceptsAnything)) return {};
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

function valuesOf(schema: JsonSchema): readonly unknown[] | undefined {
  if ("const" in schema) return [schema.const];
  return Array.isArray(schema.enum) ? (schema.enum as readonly unknown[]) : undefined;
}

export function alternativesOf(schema: JsonSchema): readonly JsonSchema[] {
  const { anyOf } = schema;
  return Array.isArray(anyOf) && Object.keys(schema).every((keyword) => isUnionKeyword(keyword))
    ? (anyOf as readonly JsonSchema[])
    : [schema];
}

function isUnionKeyword(keyword: string): boolean {
  return keyword === "anyOf" || keyword === "$defs";
}

export function withoutUndefined(schema: JsonSchema): JsonSchema {
  const alternatives = alternativesOf(schema);
  const isUndefined = ({ type }: JsonSchema) => type === undefinedSchema.type;
  if (!alternatives.some(isUndefined)) return schema;
  const remaining = alternatives.filter((alternative) => !isUndefined(alternative));
  const { $defs } = schema;
  const [only, ...others] = remaining;
  const union = only !== undefined && others.length === 0 ? only : { anyOf: remaining };
  return { ...(only === undefined ? { not: {} } : union), ...($defs !== undefined && { $defs }) };
}

export function acceptsAnything(schema: JsonSchema | undefined): boolean {
  return schema !== undefined && Object.keys(schema).every((keyword) => keyword === "$defs");
}

export function acceptsNothing(schema: JsonSchema): boolean {
  return (
    typeof schema.not === "object" &&
    schema.not !== null &&
    acceptsAnything(schema.not as JsonSchema)
  );
}
