import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { indexManifest, isSameIndex } from "../schema/manifests/index-manifest.js";
import { type CatalogEntry, leavingOf, nextOf, placeOf, storedIndexOf } from "./catalog-entry.js";

/** Where a database has the rows and the entries of indexes: the first parts of their keys. */
export interface Places {
  readonly rows: string;
  readonly entries: ReadonlyMap<CompiledIndex, string>;
}

/** Returns the places of a model and its indexes by a catalog entry. */
export function resolvePlaces(model: CompiledModel, entry: CatalogEntry): Places {
  const entries = model.indexes.map((index) => [index, storedPlace(index, entry)] as const);
  return { rows: entry.place ?? model.prefix, entries: new Map(entries) };
}

type Placed = { place: string };

/**
 * Sets the places of a model and its indexes to those of the snapshot that was read last. Nothing
 * else of a compiled model ever changes. The place of the rows changes only while the program can
 * neither read nor write the model, because the rows have another primary key. The place of an
 * index changes only while the index is neither read nor written, because the database has another
 * definition of it.
 */
export function setPlaces(model: CompiledModel, { rows, entries }: Places): void {
  (model as Placed).place = rows;
  for (const [index, place] of entries) (index as Placed).place = place;
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
