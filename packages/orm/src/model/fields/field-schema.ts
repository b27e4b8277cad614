import * as z from "zod";
import * as core from "zod/v4/core";
import { definitionOf, lazySchema, type Schema } from "./schema-definition.js";

const absentValues = [undefined, null] as const;

/**
 * Returns whether a field of a stored row may be absent (undefined or null), by the output of its
 * schema. A default may replace absent values, and a schema after a transform may refuse them.
 *
 * If a field ends in a transform, its possible results are unknown. Such a field counts as one that
 * may be absent if it accepts undefined or null and then returns undefined or null, or is
 * asynchronous.
 */
export function canBeAbsent(schema: z.ZodType): boolean {
  return absentValues.some((value) => canReturn(schema, value, new Set()));
}

/** True if a row may lack a field. An absent field is not parsed. */
export function canBeLeftOut(schema: Schema): boolean {
  const { optin, optout } = schema._zod;
  return optin === "optional" && optout === "optional";
}

/** True if a field may be absent or null. Also true if only an asynchronous parse could show it. */
export function canBeCleared(schema: z.ZodType): boolean {
  return canBeLeftOut(schema) || absentValues.some((value) => keepsAbsent(schema, value));
}

/** @param visiting the schemas that contain this one. A schema may contain itself. */
function canReturn(schema: Schema, value: undefined | null, visiting: Set<Schema>): boolean {
  if (visiting.has(schema)) return false;
  visiting.add(schema);
  const of = (part: Schema | undefined) => part !== undefined && canReturn(part, value, visiting);
  const compute = () => {
    const def = definitionOf(schema);
    switch (def.type) {
      case "optional":
        return value === undefined || of(def.innerType);
      case "nullable":
        return value === null || of(def.innerType);
      case "default":
      case "prefault":
      case "nonoptional":
        return value === null && of(def.innerType);
      case "catch":
      case "readonly":
      case "promise":
        return of(def.innerType);
      case "union":
        return (def.options ?? []).some(of);
      case "intersection":
        return of(def.left) && of(def.right);
      case "lazy":
        return of(lazySchema(schema));
      case "pipe":
        if (!isTransform(def.out)) return of(def.out);
        return absentValues.some((input) => keepsAbsent(schema, input));
      default:
        return keepsAbsent(schema, value);
    }
  };
  const result = compute();
  visiting.delete(schema);
  return result;
}

/** True if a schema returns an absent value for an absent value, or is asynchronous. */
function keepsAbsent(schema: Schema, value: undefined | null): boolean {
  try {
    const result = parse(schema, value);
    return result.success && (result.data === undefined || result.data === null);
  } catch (error) {
    return error instanceof core.$ZodAsyncError;
  }
}

/** Parses a value. Does not wait for the promise of a transform, and ignores its rejection. */
function parse(schema: Schema, value: unknown): z.ZodSafeParseResult<unknown> {
  const def = definitionOf(schema);
  if (def.type === "pipe" && def.transform === undefined && def.in && def.out) {
    const inner = parse(def.in, value);
    return inner.success ? parse(def.out, inner.data) : inner;
  }
  if (def.type !== "transform") return z.safeParse(schema, value);
  const { transform } = (schema as core.$ZodTransform)._zod.def;
  const guarded = z.transform((input: unknown, payload) => {
    const output: unknown = transform(input, payload);
    return output instanceof Promise ? output.catch(() => undefined) : output;
  });
  return z.safeParse(guarded, value);
}

function isTransform(schema: Schema | undefined): boolean {
  return schema !== undefined && definitionOf(schema).type === "transform";
}

export function isUlid(schema: z.ZodType | undefined): boolean {
  if (schema === undefined) return false;
  const { type, format } = definitionOf(schema);
  return type === "string" && format === "ulid";
}

const objectTypes = new Set(["object", "record", "any", "unknown", "custom", "transform"]);

/** True if a plain object may be a value, as far as the schema shows, or the schema allows all. */
export function canBeObject(schema: Schema): boolean {
  const def = definitionOf(schema);
  if (objectTypes.has(def.type)) return true;
  if (def.type === "lazy") return canBeObject(lazySchema(schema));
  const parts = [def.innerType, def.in, ...(def.options ?? []), def.left, def.right];
  return parts.some((part) => part !== undefined && canBeObject(part));
}

/** Returns the schema of an array's elements. Undefined if the schema does not show it. */
export function elementSchema(schema: Schema): Schema | undefined {
  const def = definitionOf(schema);
  if (def.type === "array") return def.element;
  const inner =
    def.type === "lazy" ? lazySchema(schema) : def.type === "pipe" ? def.out : def.innerType;
  return inner && elementSchema(inner);
}
