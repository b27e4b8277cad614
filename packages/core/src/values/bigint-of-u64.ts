import { KvU64 } from "./kv-u64.js";

/**
 * Returns the number in a `KvU64` of this package, of Deno or of `@deno/kv`. Returns undefined for
 * every other value.
 */
export function bigintOfU64(value: unknown): bigint | undefined {
  if (value instanceof KvU64) return value.value;
  if (typeof value !== "object" || value === null) return undefined;
  const { value: number } = value as { value?: unknown };
  if (typeof number !== "bigint" || typeof value.constructor !== "function") return undefined;
  // `@deno/kv` names its class `_KvU64`.
  return /^_?KvU64$/.test(value.constructor.name) ? number : undefined;
}
