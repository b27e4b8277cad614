import type { Kv, KvKey } from "@keywright/core";
import type { CompiledModel } from "../../model/compiled-model.js";
import { type CatalogEntry, catalogPrefix, placesOf } from "./catalog-entry.js";
import { catalogShape } from "./catalog-shape.js";
import type { ModelCatalog } from "./model-catalog.js";
import { systemValue } from "./system-value.js";

/** A model that the catalog has and the program does not. */
export interface StoredModel {
  /** Names the model in plans: see `DatabaseModel.model`. */
  readonly name: string;
  readonly prefix: string;
  readonly entry: CatalogEntry;
  /** The key and the versionstamp of the catalog entry. */
  readonly check: { readonly key: KvKey; readonly versionstamp: string };
}

/**
 * Reads the catalog entries of the models that the program does not have.
 *
 * @param tables all models of the program.
 */
export async function readStoredModels(
  kv: Kv,
  tables: readonly { readonly model: CompiledModel }[],
): Promise<StoredModel[]> {
  const knownPrefixes = new Set(tables.map(({ model }) => model.prefix));
  const found: StoredModel[] = [];
  for await (const { key, value, versionstamp } of kv.list({ prefix: catalogPrefix })) {
    const prefix = key.at(-1);
    if (typeof prefix !== "string" || knownPrefixes.has(prefix)) continue;
    const stored = { key, value, versionstamp };
    const entry = systemValue(stored, catalogShape, prefix);
    if (entry === null) continue;
    found.push({ name: entry.name ?? prefix, prefix, entry, check: { key, versionstamp } });
  }
  const names = [...tables.map(({ model }) => model.name), ...found.map(({ name }) => name)];
  return found.map((one) => {
    const isAmbiguous = names.filter((name) => name === one.name).length > 1;
    return isAmbiguous ? { ...one, name: one.prefix } : one;
  });
}

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
