import { KvU64 } from "./kv-u64.js";

/** The number in a `KvU64`, whichever implementation it is of: Deno and `@deno/kv` have their own. Undefined otherwise. */
export function bigintOfU64(value: unknown): bigint | undefined {
  if (value instanceof KvU64) return value.value;
  if (typeof value !== "object" || value === null) return undefined;
  const { value: number } = value as { value?: unknown };
  if (typeof number !== "bigint" || typeof value.constructor !== "function") return undefined;
  // `@deno/kv` calls its own `_KvU64`.
  return /^_?KvU64$/.test(value.constructor.name) ? number : undefined;
}
