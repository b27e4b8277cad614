import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type * as z from "zod";
import { literalSource } from "./literal-source.js";

/** Longer than a clock takes to go on. */
const waitMs = 5;

/** A default that is so near to now is taken for the time. */
const mostMs = 60_000;

/**
 * What the fields of a model have as defaults, as it is written behind `.default`: by the fields' names, without those that are
 * another one each time or cannot be written.
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
      // It is made asynchronously, or its function throws.
    }
  }
  return defaults;
}

function defaultSource(first: unknown, second: unknown): string | undefined {
  if (first instanceof Date && second instanceof Date && first < second) {
    return Date.now() - first.getTime() < mostMs ? "() => new Date()" : undefined;
  }
  if (!isDeepStrictEqual(first, second)) return undefined;
  try {
    return literalSource(first);
  } catch {
    return undefined;
  }
}
