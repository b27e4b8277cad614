import type { CompiledModel } from "../../model/compiled-model.js";
import { type CatalogEntry, placesOf } from "./catalog-entry.js";
import type { ModelCatalog } from "./model-catalog.js";
import type { StoredModel } from "./stored-models.js";

/** The first parts of the keys of a model's rows and index entries. */
export function placesOfStored(
  prefix: string,
  { place = prefix, otherLayout, indexes }: CatalogEntry,
): ReadonlySet<string> {
  const places = new Set([place, ...(otherLayout === undefined ? [] : [otherLayout.place])]);
  for (const index of Object.values(indexes)) {
    // An absent index has no entries, and something else may have its place by now.
    const isAbsent = index.state === "absent" && index.next === undefined;
    const stored = isAbsent ? (index.leftPlaces ?? []) : placesOf(index);
    for (const one of stored) places.add(one);
  }
  return places;
}

/** The same of several models, with the name of the model that has each place. */
export function placesOfOthers(
  tables: readonly { readonly model: CompiledModel; readonly catalog: ModelCatalog }[],
  stored: readonly StoredModel[],
): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const { name, prefix, entry } of stored) {
    for (const place of [prefix, ...placesOfStored(prefix, entry)]) owners.set(place, name);
  }
  for (const { model, catalog } of tables) {
    const { entry } = catalog.snapshot;
    const declared = [model.prefix, ...model.indexes.map((index) => index.prefix)];
    const places = [...declared, ...placesOfStored(model.prefix, entry)];
    for (const place of places) owners.set(place, model.name);
  }
  return owners;
}
