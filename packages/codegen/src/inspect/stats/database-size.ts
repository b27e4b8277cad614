import { encodeKey, encodeValue, type KvLike } from "@keywright/core";
import type { CatalogEntry } from "@keywright/orm";
import type { Project } from "../../project/open-project.js";
import { listEntries } from "../entries/list-entries.js";
import { type KnownModel, ModelPlaces, type ModelSize, ownPrefix } from "./model-places.js";
import { type OtherSize, OtherSizes } from "./other-sizes.js";
import { addTo, emptySize, type Size } from "./size.js";

/** What a database holds. */
export interface DatabaseSize {
  readonly total: Size;
  /** Those of the project, then those that only the database knows. */
  readonly models: readonly ModelSize[];
  /** Keywright's own entries that are of no model. */
  readonly own: Size;
  /** What belongs to no model, by the first parts of its keys: the largest of them, in the order of keys. */
  readonly others: readonly OtherSize[];
  /** What belongs to no model and is not among the largest. */
  readonly rest: Size;
}

/**
 * Measures a database in one pass over its entries, with memory for its models and no more: keys, and bytes of the encoded keys
 * and values. It reads in batches, so that what is written meanwhile may or may not be counted.
 *
 * @param options.onProgress called with the keys so far.
 */
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

/** The models of a project, and after them those that only the database's catalog has. */
export async function knownModels(kv: KvLike, { models }: Project): Promise<KnownModel[]> {
  const entries = new Map<string, CatalogEntry>();
  for await (const { key, value } of listEntries(kv, { prefix: [ownPrefix, "catalog"] })) {
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
