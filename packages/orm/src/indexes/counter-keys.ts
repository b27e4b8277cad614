import type { KvKey, KvKeyPart } from "@keywright/core";
import { type CompiledIndex, type CompiledModel, systemPrefix } from "../model/compiled-model.js";

export function rowCounterKey(model: Pick<CompiledModel, "prefix">): KvKey {
  return [systemPrefix, "count", model.prefix];
}

/**
 * Returns the key of the counter of the rows that have the same parts in an index. Its value is a
 * `KvU64`.
 *
 * @param parts all parts of the index key, in order, as the index stores them.
 */
export function indexCounterKey(index: CompiledIndex, parts: readonly KvKeyPart[]): KvKey {
  return [systemPrefix, "count", index.prefix, ...parts];
}
