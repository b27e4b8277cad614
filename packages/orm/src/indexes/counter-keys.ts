import type { KvKey, KvKeyPart } from "@keywright/core";
import { type CompiledIndex, type CompiledModel, ownPrefix } from "../model/compiled-model.js";

/** Where the number of a model's rows is kept, as a `KvU64`. */
export function rowCounterKey(model: Pick<CompiledModel, "prefix">): KvKey {
  return [ownPrefix, "count", model.prefix];
}

/** Where the number of rows with these parts in an index is kept: all parts of its key, in order, as the index holds them. */
export function indexCounterKey(index: CompiledIndex, parts: readonly KvKeyPart[]): KvKey {
  return [ownPrefix, "count", index.prefix, ...parts];
}
