import type * as z from "zod";
import type { AnyRow } from "../compiled-model.js";
import { definitionOf, lazySchema, type Schema } from "../fields/schema-definition.js";

/**
 * Returns a value without the fields that a schema does not have: the value itself if it has none.
 */
type Strip = (value: unknown) => unknown;

/**
 * Returns a stored row without the fields that the schema does not have, also in nested objects and
 * in arrays of objects. Stored rows may hold such fields: those of an earlier or a later schema,
 * and what was written by hand. Returns the row itself if it has none. The row is not changed.
 *
 * The values of a union, an intersection, a map, a set or a record are returned whole.
 */
export function ownFields(schema: z.ZodObject, row: AnyRow): AnyRow {
  const found = known.get(schema);
  const strip = found === undefined ? stripOf(schema) : found.strip;
  return strip === undefined ? row : (strip(row) as AnyRow);
}

/** Returns a stored value of a schema without other fields, as {@link ownFields}. */
export function ownValue(schema: Schema, value: unknown): unknown {
  return stripOf(schema)?.(value) ?? value;
}

/** True if rows may have other fields than those of the schema. */
export function hasOtherFields(schema: z.ZodObject): boolean {
  const { catchall } = schema._zod.def;
  return catchall !== undefined && catchall._zod.def.type !== "never";
}

const known = new WeakMap<Schema, { strip: Strip | undefined }>();

/** Returns undefined if no value of the schema can have other fields that are left out. */
function stripOf(schema: Schema): Strip | undefined {
  const found = known.get(schema);
  if (found !== undefined) return found.strip;
  // A schema that contains itself is looked up again when a value is stripped.
  const entry: { strip: Strip | undefined } = { strip: (value) => entry.strip?.(value) ?? value };
  known.set(schema, entry);
  const strip = makeStrip(schema);
  entry.strip = strip;
  return strip;
}

function makeStrip(schema: Schema): Strip | undefined {
  const def = definitionOf(schema);
  switch (def.type) {
    case "object":
      return objectStrip(schema);
    case "array":
      return arrayStrip(def.element);
    case "lazy":
      return stripOf(lazySchema(schema));
    case "pipe":
      return def.out && stripOf(def.out);
    case "optional":
    case "nullable":
    case "nonoptional":
    case "default":
    case "prefault":
    case "catch":
    case "readonly":
      return def.innerType && stripOf(def.innerType);
    default:
      return undefined;
  }
}

function objectStrip(schema: Schema): Strip | undefined {
  const { shape = {} } = definitionOf(schema);
  const isOpen = hasOtherFields(schema as z.ZodObject);
  const ordered = Object.keys(shape);
  const names = new Set(ordered);
  const nested = Object.entries(shape).flatMap(([name, part]) => {
    const strip = stripOf(part);
    return strip === undefined ? [] : [[name, strip] as const];
  });
  if (isOpen && nested.length === 0) return undefined;
  return (value) => {
    if (typeof value !== "object" || value === null) return value;
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) return value;
    let result = value as Record<string, unknown>;
    if (!isOpen) {
      // Most rows have their fields in the order of the schema. Comparing texts that are the same
      // object takes less time than looking them up.
      let next = 0;
      for (const field in value) {
        if (field === ordered[next++] || names.has(field)) continue;
        result = Object.fromEntries(Object.entries(value).filter(([name]) => names.has(name)));
        break;
      }
    }
    for (const [name, strip] of nested) {
      const before = result[name];
      if (typeof before !== "object" || before === null || !Object.hasOwn(result, name)) continue;
      const after = strip(before);
      if (after !== before) result = { ...result, [name]: after };
    }
    return result;
  };
}

function arrayStrip(element: Schema | undefined): Strip | undefined {
  const strip = element && stripOf(element);
  if (strip === undefined) return undefined;
  return (value) => {
    if (!Array.isArray(value)) return value;
    let result: unknown[] = value;
    for (const [i, before] of value.entries()) {
      const after = strip(before);
      if (after === before) continue;
      if (result === value) result = [...value];
      result[i] = after;
    }
    return result;
  };
}
