import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type * as z from "zod";
import { literalSource } from "./literal-source.js";

/** A wait, in milliseconds, that is longer than one step of the clock. */
const waitMs = 5;

/** The maximum age, in milliseconds, of a default that is assumed to be the current time. */
const maxAgeMs = 60_000;

/**
 * Returns the defaults of a model's fields as code for the argument of `.default`, by the name of
 * the field. Defaults that cannot be written are left out, and so are defaults that differ on each
 * call, except for the current time.
 */
export async function defaultSources(schema: z.ZodObject): Promise<Map<string, string>> {
  const first = defaultsOf(schema);
  await setTimeout(waitMs);
  const second = defaultsOf(schema);
  const sources = new Map<string, string>();
  for (const [field, value] of first) {
    const source = defaultSource(value, second.get(field));
    if (source !== undefined) sources.set(field, source);
  }
  return sources;
}

function defaultsOf({ shape }: z.ZodObject): Map<string, unknown> {
  const defaults = new Map<string, unknown>();
  for (const [field, schema] of Object.entries<z.ZodType>(shape)) {
    try {
      const result = schema.safeParse(undefined);
      if (result.success && result.data !== undefined) defaults.set(field, result.data);
    } catch {
      // The field is parsed asynchronously, or one of its functions throws.
    }
  }
  return defaults;
}

function defaultSource(first: unknown, second: unknown): string | undefined {
  if (first instanceof Date && second instanceof Date && first < second) {
    return Date.now() - first.getTime() < maxAgeMs ? "() => new Date()" : undefined;
  }
  if (!isDeepStrictEqual(first, second)) return undefined;
  try {
    return literalSource(first);
  } catch {
    return undefined;
  }
}
