import type { CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import { indexManifest, isSameIndex } from "../schema/manifests/index-manifest.js";
import { type CatalogEntry, leavingOf, nextOf, placeOf, storedIndexOf } from "./catalog-entry.js";

/**
 * Sets the places of the rows and indexes of a model to those of a catalog entry. The place of the
 * rows changes only while the program can neither read nor write the model, because the rows have
 * another primary key. The place of an index changes only while the index is neither read nor
 * written, because the database has another definition of it.
 */
export function resolvePlaces(model: CompiledModel, entry: CatalogEntry): void {
  model.place = entry.place ?? model.prefix;
  for (const index of model.indexes) index.place = storedPlace(index, entry);
}

function storedPlace(index: CompiledIndex, entry: CatalogEntry): string {
  const manifest = indexManifest(index);
  const named = storedIndexOf(entry, index.name);
  const candidates = named === undefined ? Object.values(entry.indexes) : [named];
  const stored =
    candidates.find((other) => !other.isOther && isSameIndex(other, manifest)) ??
    nextOf(named, index) ??
    leavingOf(named, index);
  return stored === undefined ? index.prefix : placeOf(stored);
}
