import type { KvKey, KvKeyPart } from "@keywright/core";
import { type CompiledIndex, type CompiledModel, ownPrefix } from "../model/compiled-model.js";
import type { IndexEntry } from "./index-entries.js";

/** The keys that a commit of a `live: true` model counts up. */
export function changeMarkKeys(model: CompiledModel, _entries: readonly IndexEntry[]): KvKey[] {
  return [[ownPrefix, "changes", model.name]];
}

/** The mark that changes whenever a row comes into a read's range, goes out of it, or changes within it. */
export function changeMarkOfRead(
  model: CompiledModel,
  _index: CompiledIndex | undefined,
  _equals: readonly KvKeyPart[],
): KvKey {
  return [ownPrefix, "changes", model.name];
}
