import type { KvKey, KvKeyPart } from "@keywright/core";
import type { Counter } from "../../model/aggregates/counter.js";
import { type CompiledModel, systemPrefix } from "../../model/compiled-model.js";
import type { SystemShape } from "../../state/catalog/system-value.js";

type Prefixed = Pick<Counter, "prefix">;

/** Returns the key of the counter of all rows. Its value is a `KvU64`. */
export function rowCounterKey(model: Pick<CompiledModel, "prefix">): KvKey {
  return [systemPrefix, "count", model.prefix];
}

/**
 * Returns the key of a counter of the rows that have the same parts in an index. Its value is a
 * `KvU64`.
 *
 * @param parts all parts of the index key, in order, as the index stores them. None for a counter
 * of all rows.
 * @param limb the position of a limb of a sum.
 */
export function counterKey(
  { prefix }: Prefixed,
  parts: readonly KvKeyPart[],
  limb?: number,
): KvKey {
  const key: KvKeyPart[] = [systemPrefix, "count", prefix, ...parts];
  if (limb !== undefined) key.push(limb);
  return key;
}

/** A counter: a 64-bit number, of any implementation of `Deno.KvU64`. */
export const counterShape: SystemShape<{ readonly value: bigint }> = {
  problemOf: (value) =>
    typeof value === "object" &&
    value !== null &&
    typeof (value as { readonly value?: unknown }).value === "bigint"
      ? undefined
      : "",
  remedy: "run verify, which builds the counter again",
};
