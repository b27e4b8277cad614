import type * as z from "zod";

type Schema = z.core.$ZodType;

const plain: ReadonlySet<string> = new Set(["string", "number", "bigint", "boolean", "date"]);
const wrappers: ReadonlySet<string> = new Set([
  "optional",
  "nullable",
  "nonoptional",
  "default",
  "prefault",
  "catch",
  "readonly",
]);

/**
 * Of what kind the values of a field are, null and undefined aside, by the name that Zod has for it: `"string"`, `"number"`,
 * `"bigint"`, `"boolean"` or `"date"`. Undefined where they may be of several or of another, and where a transform makes them.
 */
export function plainKind(schema: Schema | undefined): string | undefined {
  if (schema === undefined) return undefined;
  const { type, innerType } = schema._zod.def as { type: string; innerType?: Schema };
  if (plain.has(type)) return type;
  return wrappers.has(type) ? plainKind(innerType) : undefined;
}
