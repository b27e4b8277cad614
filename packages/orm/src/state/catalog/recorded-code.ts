import type { CompiledModel } from "../../model/compiled-model.js";
import { codeOf } from "../schema/manifests/index-code.js";
import { indexManifest, isSameIndex } from "../schema/manifests/index-manifest.js";
import type { CatalogEntry, StoredIndex } from "./catalog-entry.js";

/**
 * Returns an entry with the canonical code of the program's functions, for indexes of which an
 * earlier release has stored only a hash. Programs that are built in another way then know that
 * they have the same functions. Returns the entry itself if it lacks none.
 */
export function withCode(model: CompiledModel, entry: CatalogEntry): CatalogEntry {
  const added = new Map<string, StoredIndex>();
  for (const index of model.indexes) {
    const stored = Object.hasOwn(entry.indexes, index.name) ? entry.indexes[index.name] : undefined;
    if (stored?.functions === undefined || stored.code !== undefined) continue;
    const now = indexManifest(index);
    const code = codeOf(now);
    if (Object.keys(code).length === 0 || !isSameIndex(stored, now)) continue;
    added.set(index.name, { ...stored, code });
  }
  if (added.size === 0) return entry;
  return { ...entry, indexes: { ...entry.indexes, ...Object.fromEntries(added) } };
}
