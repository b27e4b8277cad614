import * as z from "zod";

/** What a schema makes of a value, or what it finds wrong. */
export type Parsed = z.ZodSafeParseResult<unknown>;

/** Schemas that are known to have asynchronous parts. */
const asynchronous = new WeakSet<z.core.$ZodType>();

/** Parses at once where the schema can, and asynchronously where it has asynchronous parts. */
export function parse(schema: z.core.$ZodType, value: unknown): Parsed | Promise<Parsed> {
  if (asynchronous.has(schema)) return z.safeParseAsync(schema, value);
  try {
    return z.safeParse(schema, value);
  } catch {
    // Not only by a `$ZodAsyncError`: in an object, Zod stumbles over the promise of a transform. What the schema's own
    // functions throw, they throw again.
    return parseAgain(schema, value);
  }
}

async function parseAgain(schema: z.core.$ZodType, value: unknown): Promise<Parsed> {
  const result = await z.safeParseAsync(schema, value);
  asynchronous.add(schema);
  return result;
}

/** Goes on with a value at once, or when it is there: who has not to wait does not. */
export function whenReady<A, B>(
  value: A | Promise<A>,
  next: (value: A) => B | Promise<B>,
): B | Promise<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** All of the values at once, or when the last of them is there. */
export function allReady<T>(values: readonly (T | Promise<T>)[]): readonly T[] | Promise<T[]> {
  return values.some((value) => value instanceof Promise)
    ? Promise.all(values.map(async (value) => await value))
    : (values as readonly T[]);
}
