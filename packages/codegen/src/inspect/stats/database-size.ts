import { encodeKey, encodeValue, type KvLike } from "@keywright/core";
import type { CatalogEntry } from "@keywright/orm";
import type { Project } from "../../project/open-project.js";
import { listEntries } from "../entries/list-entries.js";
import { type KnownModel, keywrightPrefix, ModelPlaces, type ModelSize } from "./model-places.js";
import { type OtherSize, OtherSizes } from "./other-sizes.js";
import { addTo, emptySize, type Size } from "./size.js";

export interface DatabaseSize {
  readonly total: Size;
  /** The models of the project, then those that only the database has. */
  readonly models: readonly ModelSize[];
  readonly own: Size;
  /** The largest groups of other entries with the same first part, in the order of keys. */
  readonly others: readonly OtherSize[];
  readonly rest: Size;
}

/** Reads all entries once. Memory depends on the number of models and indexes only. */
export async function measureDatabase(
  kv: KvLike,
  models: readonly KnownModel[],
  options: { readonly onProgress?: (keys: number) => void } = {},
): Promise<DatabaseSize> {
  const places = new ModelPlaces(models);
  const others = new OtherSizes();
  const total = emptySize();
  for await (const { key, value } of listEntries(kv, {})) {
    const bytes = encodeKey(key).length + encodeValue(value).length;
    addTo(total, bytes);
    addTo(places.sizeFor(key) ?? others.sizeFor(key), bytes);
    options.onProgress?.(total.keys);
  }
  const { largest, rest } = others.sizes;
  return { total, models: places.sizes, own: places.own, others: largest, rest };
}

/** Returns the models of a project, then the models that only the database's catalog has. */
export async function knownModels(kv: KvLike, { models }: Project): Promise<KnownModel[]> {
  const entries = new Map<string, CatalogEntry>();
  for await (const { key, value } of listEntries(kv, { prefix: [keywrightPrefix, "catalog"] })) {
    entries.set(String(key[2]), value as CatalogEntry);
  }
  const declared = models.map(({ model: compiled }) => {
    const entry = entries.get(compiled.prefix);
    entries.delete(compiled.prefix);
    return { prefix: compiled.prefix, compiled, entry };
  });
  const others = [...entries].map(([prefix, entry]) => ({ prefix, entry }));
  return [...declared, ...others];
}
