import type { CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import { indexManifest, isSameIndex } from "../schema/manifests/index-manifest.js";
import type { StoredIndex } from "./catalog-entry.js";

/** False if the definition has changed since another index replaced this one. */
export function isReplaced(
  { indexes }: CompiledModel,
  index: CompiledIndex,
  stored: StoredIndex,
): boolean {
  const { replacedBy } = stored;
  return (
    replacedBy !== undefined &&
    indexes.some(({ name }) => name === replacedBy) &&
    isSameIndex(stored, indexManifest(index))
  );
}
