import * as z from "zod";
import { awaitAll } from "../../context/await-all.js";
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

/** Passes a value to a function: synchronously, or after the promise if the value is one. */
export function whenReady<A, B>(
  value: A | Promise<A>,
  next: (value: A) => B | Promise<B>,
): B | Promise<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Returns all values: synchronously, or as a promise if one of them is a promise. */
export function allReady<T>(values: readonly (T | Promise<T>)[]): readonly T[] | Promise<T[]> {
  return values.some((value) => value instanceof Promise)
    ? awaitAll(values)
    : (values as readonly T[]);
}
