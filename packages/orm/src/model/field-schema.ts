import type * as z from "zod";

/** Whether a stored row may have nothing in a field: a default or a transform may still put something there. */
export function canBeAbsent(schema: z.ZodType): boolean {
  return [undefined, null].some((value) => {
    try {
      const result = schema.safeParse(value);
      return result.success && (result.data === undefined || result.data === null);
    } catch {
      // An asynchronous schema: what it makes of nothing is not known here.
      return true;
    }
  });
}

interface Definition {
  readonly type: string;
  readonly format?: string;
  readonly innerType?: z.ZodType;
  readonly out?: z.ZodType;
}

function definitionOf(schema: z.ZodType): Definition {
  return schema._zod.def as Definition;
}

/** Whether the values of a field are arrays, by its schema: what it is optional or defaulted from counts. */
export function isList(schema: z.ZodType): boolean {
  const { type, innerType, out } = definitionOf(schema);
  if (type === "array") return true;
  const inner = type === "pipe" ? out : innerType;
  return inner !== undefined && isList(inner);
}

/** Whether a field is a plain `z.ulid()`. */
export function isUlid(schema: z.ZodType | undefined): boolean {
  if (schema === undefined) return false;
  const { type, format } = definitionOf(schema);
  return type === "string" && format === "ulid";
}
