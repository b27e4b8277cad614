import { definitionOf, lazySchema, type Schema } from "./schema-definition.js";

const typesOutsideKeys: ReadonlySet<string> = new Set([
  "array",
  "file",
  "function",
  "map",
  "object",
  "record",
  "set",
  "symbol",
  "tuple",
]);
const typesSameInKeys: ReadonlySet<string> = new Set([
  "bigint",
  "boolean",
  "string",
  "template_literal",
]);
const arrayTypes: ReadonlySet<string> = new Set(["array", "tuple"]);
const absentTypes: ReadonlySet<string> = new Set(["null", "undefined", "void", "never"]);
const numberTypes: ReadonlyMap<string, string> = new Map([
  ["int", "number"],
  ["nan", "number"],
  ["date", "number"],
]);
const opaqueTypes: ReadonlySet<string> = new Set([
  "any",
  "unknown",
  "custom",
  "transform",
  "intersection",
]);

/** True if a key can hold a value, as far as the schema shows. A transform may return anything. */
export function canBeInKey(schema: Schema): boolean {
  const kinds = valueKinds(schema);
  return kinds.length === 0 || kinds.some(isKeyKind);
}

function isKeyKind(kind: Schema): boolean {
  const { type, left, right } = definitionOf(kind);
  if (type === "intersection" && left && right) return canBeInKey(left) && canBeInKey(right);
  return !typesOutsideKeys.has(type);
}

/** True if a key holds every value as it is. A date is a number in a key, and -0 is 0. */
export function isSameInKey(schema: Schema): boolean {
  const kinds = valueKinds(schema);
  return kinds.length > 0 && kinds.every(isKindSameInKey);
}

function isKindSameInKey(kind: Schema): boolean {
  const { type, values = [] } = definitionOf(kind);
  if (type === "literal") return values.every((value) => typeof value !== "number");
  return typesSameInKeys.has(type);
}

/** True if the values may be numbers or dates in some rows and bigints in others. */
export function canBeNumberAndBigint(schema: Schema): boolean {
  const types = new Set(
    valueKinds(schema).flatMap((kind): readonly string[] => {
      const { type, values = [] } = definitionOf(kind);
      if (type === "custom" && kind._zod.bag.Class !== undefined) return [];
      if (opaqueTypes.has(type)) return ["number", "bigint"];
      return type === "literal"
        ? values.map((value) => typeof value)
        : [numberTypes.get(type) ?? type];
    }),
  );
  return types.has("number") && types.has("bigint");
}

/** True if the values are arrays, apart from absent values and wrappers such as optional. */
export function isList(schema: Schema): boolean {
  const kinds = valueKinds(schema);
  return kinds.length > 0 && kinds.every((kind) => arrayTypes.has(typeOf(kind)));
}

/** True if a value may be an array, as far as the schema shows. */
export function canBeList(schema: Schema): boolean {
  return listKinds(schema).length > 0;
}

export function canHoldElements(schema: Schema): boolean {
  return listKinds(schema).some((kind) => {
    const { element, items = [], rest } = definitionOf(kind);
    const elements = [...items, element, rest].filter(
      (part) => part !== undefined && part !== null,
    );
    return elements.length === 0 || elements.some(canBeInKey);
  });
}

/**
 * True if all values are strings, as far as the schema shows.
 *
 * @param isElement true for the elements of an array, if the field is one.
 */
export function holdsStrings(schema: Schema, isElement: boolean): boolean {
  const lists = isElement ? valueKinds(schema).filter((kind) => arrayTypes.has(typeOf(kind))) : [];
  const elements = lists.flatMap((kind) => {
    const { element, items = [], rest } = definitionOf(kind);
    return [...items, element, rest].filter((part) => part !== undefined && part !== null);
  });
  const kinds = lists.length === 0 ? valueKinds(schema) : elements.flatMap(valueKinds);
  return kinds.every((kind) => {
    const { type, values, entries } = definitionOf(kind);
    if (type === "enum") return Object.values(entries ?? {}).every(isText);
    if (type === "literal") return (values ?? []).every(isText);
    return type === "string" || type === "template_literal" || opaqueTypes.has(type);
  });
}

/**
 * True if a value can be a string or an array of strings, as far as the schema shows, and nothing
 * else.
 */
export function holdsTexts(schema: Schema): boolean {
  const kinds = valueKinds(schema);
  const isText = (kind: Schema) => !opaqueTypes.has(typeOf(kind)) && holdsStrings(kind, true);
  return kinds.length > 0 && kinds.every(isText);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

/**
 * True if the schema shows the types of all values. A transform or `z.any()` may return anything.
 */
export function hasKnownTypes(schema: Schema): boolean {
  return valueKinds(schema).every((kind) => !opaqueTypes.has(typeOf(kind)));
}

/** Returns the schemas of the values that are not absent, without wrappers such as optional. */
export function valueKinds(schema: Schema): readonly Schema[] {
  return kindsOf(schema).filter((kind) => !absentTypes.has(typeOf(kind)));
}

function listKinds(schema: Schema): readonly Schema[] {
  return kindsOf(schema).filter(
    (kind) => arrayTypes.has(typeOf(kind)) || opaqueTypes.has(typeOf(kind)),
  );
}

/** Returns the schemas inside this one that are not unions, pipes or wrappers. */
function kindsOf(schema: Schema, outer: ReadonlySet<Schema> = new Set()): readonly Schema[] {
  if (outer.has(schema)) return [];
  const visited = new Set([...outer, schema]);
  const def = definitionOf(schema);
  // It returns a boolean, not the value of its inner schema.
  if (def.type === "success") return [schema];
  const parts =
    def.type === "union"
      ? def.options
      : def.type === "lazy"
        ? [lazySchema(schema)]
        : [def.type === "pipe" ? def.out : def.innerType].filter((part) => part !== undefined);
  if (parts === undefined || parts.length === 0) return [schema];
  return parts.flatMap((part) => kindsOf(part, visited));
}

function typeOf(schema: Schema): string {
  return definitionOf(schema).type;
}
