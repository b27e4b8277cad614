import type * as z from "zod";
import { type Alternatives, textOf, unionOf, withoutMember } from "./alternatives.js";
import { arrayType, collectionType, recordType, tupleType, typesOf } from "./collection-types.js";
import { objectType } from "./object-type.js";
import { type Place, placeWithin, unreferablePlace } from "./place.js";
import { readonlyType } from "./readonly-type.js";
import type { Definition, Writer, ZodSchema } from "./writer.js";

/** Returns undefined if the type of the schema cannot be spelled out. */
export function typeOf(writer: Writer, schema: ZodSchema, place: Place): Alternatives | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  // A type argument can narrow the input of a coercion. It does not exist at run time.
  if (writer.side === "input" && "coerce" in def && def.coerce === true) return undefined;
  switch (def.type) {
    case "string":
    case "bigint":
    case "boolean":
    case "undefined":
    case "null":
    case "void":
      return [def.type];
    case "number":
    case "nan":
      return ["number"];
    case "date":
      return ["Date"];
    case "any":
      return [writer.any];
    case "unknown":
      return ["unknown"];
    case "never":
      return [];
    case "literal":
      return literalType(def.values);
    case "enum":
      return enumType(def.entries);
    case "custom":
      return classType(schema);
    case "object":
      return objectType(writer, def, place);
    case "array":
      return arrayType(writer, def, place);
    case "tuple":
      return tupleType(writer, def, place);
    case "record":
      return recordType(writer, def, place);
    case "map":
      return collectionType(writer, "Map", [def.keyType, def.valueType], place);
    case "set":
      return collectionType(writer, "Set", [def.valueType], place);
    case "union": {
      const options = typesOf(writer, def.options, place);
      return options && unionOf(...options);
    }
    case "intersection": {
      const sides = typesOf(writer, [def.left, def.right], place);
      return sides && intersectionOf(sides);
    }
    case "pipe": {
      const end = writer.side === "input" ? "in" : "out";
      return writer.write(def[end], placeWithin(place, "def", end));
    }
    case "lazy":
      return writer.write(lazySchema(writer, schema, place), unreferablePlace(place));
    case "readonly":
      return readonlyType(writer, def.innerType, placeWithin(place, "def", "innerType"));
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "nonoptional":
    case "catch":
    case "success":
      return wrappedType(writer, schema, def, place);
    default:
      // Transforms, promises, functions, files, symbols, template literals, and kinds that later
      // versions of Zod add.
      return undefined;
  }
}

type Wrapper = Definition<
  "optional" | "nullable" | "default" | "prefault" | "nonoptional" | "catch" | "success"
>;

function wrappedType(
  writer: Writer,
  schema: ZodSchema,
  def: Wrapper,
  place: Place,
): Alternatives | undefined {
  const inner = writer.write(def.innerType, placeWithin(place, "def", "innerType"));
  if (inner === undefined) return undefined;
  const isInput = writer.side === "input";
  switch (def.type) {
    case "optional":
      // An exact optional property may be absent but is never undefined.
      return schema._zod.traits.has("$ZodExactOptional") ? inner : unionOf(inner, ["undefined"]);
    case "nullable":
      return unionOf(inner, ["null"]);
    case "default":
      return isInput ? unionOf(inner, ["undefined"]) : withoutUndefined(writer, inner);
    case "prefault":
      return isInput ? unionOf(inner, ["undefined"]) : inner;
    case "nonoptional":
      return withoutUndefined(writer, inner);
    case "catch":
      return inner;
    case "success":
      return isInput ? inner : ["boolean"];
  }
}

function withoutUndefined(writer: Writer, type: Alternatives): Alternatives {
  return withoutMember(type, "undefined").map((member) =>
    writer.isName(member) && writer.mayBeUndefined(member)
      ? `Exclude<${member}, undefined>`
      : member,
  );
}

/** The getter may return a new schema on each call. Zod keeps the first. */
function lazySchema(writer: Writer, schema: ZodSchema, place: Place): ZodSchema {
  try {
    return (schema as z.core.$ZodLazy)._zod.innerType;
  } catch (error) {
    throw writer.fault(place, "the getter of z.lazy throws", error);
  }
}

function intersectionOf(sides: readonly Alternatives[]): Alternatives {
  const texts = new Set(sides.map((side) => `(${textOf(side)})`));
  return texts.size === 1 ? sides[0]! : [`(${[...texts].join(" & ")})`];
}

/**
 * Returns the union of the values of an enum. Returns undefined if the name of a member is not its
 * value: such a schema is made from a TypeScript enum, whose members have types of their own.
 */
function enumType(entries: Readonly<Record<string, string | number>>): Alternatives | undefined {
  const isOfLiterals = Object.entries(entries).every(([name, value]) => name === value);
  return isOfLiterals ? literalType(Object.values(entries)) : undefined;
}

/** Returns undefined if a value has no literal type, such as Infinity. */
function literalType(values: readonly unknown[]): Alternatives | undefined {
  const members = values.map(literalText);
  return members.every((member) => member !== undefined) ? members : undefined;
}

function literalText(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      return Number.isFinite(value) ? String(value === 0 ? 0 : value) : undefined;
    case "bigint":
      return `${value}n`;
    case "boolean":
    case "undefined":
      return String(value);
    default:
      return value === null ? "null" : undefined;
  }
}

/** Built-in classes whose name is exactly the type that `z.instanceof` infers. */
const plainClasses: ReadonlySet<unknown> = new Set([ArrayBuffer, Date, RegExp, URL]);

const arrayClasses: ReadonlySet<unknown> = new Set([
  BigInt64Array,
  BigUint64Array,
  Float32Array,
  Float64Array,
  Int8Array,
  Int16Array,
  Int32Array,
  Uint8Array,
  Uint8ClampedArray,
  Uint16Array,
  Uint32Array,
]);

/** Returns undefined unless the schema is `z.instanceof` of a built-in class. */
function classType(schema: z.core.$ZodType): Alternatives | undefined {
  const { checks = [] } = schema._zod.def;
  const Class = classOf(schema);
  const isNarrowed = checks.some((check) => check._zod.def.check === "properties");
  if (Class === undefined || isNarrowed) return undefined;
  if (plainClasses.has(Class)) return [Class.name];
  return arrayClasses.has(Class) ? [`${Class.name}<ArrayBuffer>`] : undefined;
}

/** If a `z.instanceof` schema was refined later, only its parent has the class. */
function classOf(schema: z.core.$ZodType): { readonly name: string } | undefined {
  const { bag, parent } = schema._zod;
  const { Class } = bag as { Class?: { readonly name: string } };
  return Class ?? (parent === undefined ? undefined : classOf(parent));
}
