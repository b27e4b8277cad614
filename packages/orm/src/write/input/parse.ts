import * as z from "zod";
import { tooDeep } from "../../model/rows/too-deep.js";

/** The output of a schema for a value, or its issues. */
export type Parsed = z.ZodSafeParseResult<unknown>;

/** The schemas that are known to have asynchronous parts. */
const asynchronous = new WeakSet<z.core.$ZodType>();

/** Parses a value. Returns a promise only if the schema has asynchronous parts. */
export function parse(schema: z.core.$ZodType, value: unknown): Parsed | Promise<Parsed> {
  if (asynchronous.has(schema)) return z.safeParseAsync(schema, value);
  try {
    return z.safeParse(schema, value);
  } catch {
    // An asynchronous part does not always give a `$ZodAsyncError`: in an object, the promise of a
    // transform makes Zod fail with another error. If a function of the schema has thrown, it
    // throws again in the second pass.
    return parseAsync(schema, value);
  }
}

async function parseAsync(schema: z.core.$ZodType, value: unknown): Promise<Parsed> {
  try {
    const result = await z.safeParseAsync(schema, value);
    asynchronous.add(schema);
    return result;
  } catch (error) {
    return tooDeep(value, error);
  }
}
