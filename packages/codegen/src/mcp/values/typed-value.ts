import { Buffer } from "node:buffer";
import { KvU64 } from "@keywright/core";
import { InvalidArgumentError } from "@keywright/orm";
import type * as z from "zod";

interface Definition {
  readonly type: string;
  readonly innerType?: z.core.$ZodType;
  readonly getter?: () => z.core.$ZodType;
  readonly in?: z.core.$ZodType;
  readonly out?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly valueType?: z.core.$ZodType;
}

/** The side of a schema that transforms: what a write gets, or what is stored. */
type Side = "in" | "out";

/**
 * Returns a value of JSON with the type that a schema has: a text in ISO 8601 as a date, a whole
 * number or its digits as a bigint, and what `plainValue` returns.
 *
 * @param schema undefined if the model has no such field. The database reports it.
 */
export function typedValue(
  schema: z.core.$ZodType | undefined,
  value: unknown,
  side: Side,
): unknown {
  const def = schema && definitionOf(schema, side);
  switch (def?.type) {
    case "date":
      return dateOf(value);
    case "bigint":
      return bigintOf(value);
    case "array":
      // An element of an indexed list, or the list.
      return Array.isArray(value)
        ? value.map((each) => typedValue(def.element, each, side))
        : typedValue(def.element, value, side);
    case "set":
      return Array.isArray(value)
        ? new Set(value.map((each) => typedValue(def.valueType, each, side)))
        : typedValue(def.valueType, value, side);
    case "object":
      return isPlain(value)
        ? mapped(value, (name, each) =>
            typedValue(def.shape && ownValue(def.shape, name), each, side),
          )
        : plainValue(value);
    case "record":
      return isPlain(value)
        ? mapped(value, (_, each) => typedValue(def.valueType, each, side))
        : plainValue(value);
    default:
      return plainValue(value);
  }
}

/**
 * Returns a value of JSON, in which `{"$": "1n"}` represents a bigint, `{"$": "b64:AQID"}` bytes,
 * `{"$": "date:2026-01-31T00:00:00.000Z"}` a date, `{"$": "u64:1"}` a `KvU64`, and `{"$": "NaN"}`
 * and the like a number.
 *
 * @throws {InvalidArgumentError} if such an object represents nothing.
 */
export function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  if (typeof value !== "object" || value === null) return value;
  if (isPlain(value)) return mapped(value, (_, each) => plainValue(each));
  const { $: word } = value as { readonly $: unknown };
  if (word === "undefined") return undefined;
  const known = typeof word === "string" ? valueOfWord(word) : undefined;
  if (known !== undefined) return known;
  const reason = `${JSON.stringify(value)} represents no value; write { "$": "1n" }, { "$": "b64:AQID" } or { "$": "date:2026-01-31T00:00:00.000Z" }`;
  throw new InvalidArgumentError("", "value", reason);
}

const numbers: ReadonlyMap<string, number> = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
  ["-0", -0],
]);

function valueOfWord(word: string): unknown {
  if (/^-?\d+n$/.test(word)) return BigInt(word.slice(0, -1));
  if (word.startsWith("b64:")) return new Uint8Array(Buffer.from(word.slice(4), "base64"));
  if (/^u64:\d{1,20}$/.test(word)) return new KvU64(BigInt(word.slice(4)));
  if (word.startsWith("date:") && isoDate.test(word.slice(5))) return new Date(word.slice(5));
  return numbers.get(word);
}

const isoDate = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;

function dateOf(value: unknown): unknown {
  if (typeof value !== "string" || !isoDate.test(value)) return plainValue(value);
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? value : date;
}

function bigintOf(value: unknown): unknown {
  const isWhole = typeof value === "string" ? /^-?\d+$/.test(value) : Number.isSafeInteger(value);
  return isWhole ? BigInt(value as string | number) : plainValue(value);
}

/** Returns the type of a schema's input, such as `array`. Undefined if there is no schema. */
export function typeOf(schema: z.core.$ZodType | undefined): string | undefined {
  return schema && definitionOf(schema, "in").type;
}

/** Looks through optional, nullable, default and the like, and through pipes. */
function definitionOf(schema: z.core.$ZodType, side: Side): Definition {
  const def = schema._zod.def as unknown as Definition;
  const inner = def.type === "pipe" ? sideOf(def, side) : (def.innerType ?? def.getter?.());
  return inner === undefined || inner === schema ? def : definitionOf(inner, side);
}

/** A transform at the end of a pipe does not say what it returns. */
function sideOf(def: Definition, side: Side): z.core.$ZodType | undefined {
  const isTransform = (part?: z.core.$ZodType) => part?._zod.def.type === "transform";
  if (side === "out") return isTransform(def.out) ? def.in : def.out;
  return isTransform(def.in) ? def.out : def.in;
}

/** Undefined also for names such as `constructor`, which objects inherit. */
export function ownValue<T>(object: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** False for objects that represent a value, and for those that are none. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const names = Object.keys(value);
  return !(names.length === 1 && names[0] === "$");
}

function mapped(
  object: Readonly<Record<string, unknown>>,
  convert: (name: string, value: unknown) => unknown,
): object {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, convert(name, value)]),
  );
}
