import { optionalFields } from "../../model/compile-model.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { compileStoredIndex } from "../schema/manifests/compile-stored-index.js";
import { hashOf } from "../schema/manifests/hash.js";
import { codeOf } from "../schema/manifests/index-code.js";
import { indexManifest, isSameIndex } from "../schema/manifests/index-manifest.js";
import {
  type CatalogEntry,
  type PlacedIndex,
  placeOf,
  type StoredIndex,
  storedIndexOf,
} from "./catalog-entry.js";

/** By the index of the program, then by a hash of the stored definition and its place. */
const compiled = new WeakMap<CompiledIndex, Map<string, CompiledIndex | undefined>>();

/**
 * Returns the definition that the database has of an index that the program has changed, for
 * reading and writing its entries. Undefined if the program cannot compute them.
 */
export function storedDefinition(
  model: CompiledModel,
  index: CompiledIndex,
  stored: PlacedIndex,
): CompiledIndex | undefined {
  const { prefix, fields, unique, normalized, traits = null, functions = null } = stored;
  const place = placeOf(stored);
  const key = hashOf([place, prefix, fields, unique, normalized, traits, functions]);
  let definitions = compiled.get(index);
  if (definitions === undefined) {
    definitions = new Map();
    compiled.set(index, definitions);
  }
  if (!definitions.has(key)) {
    const definition = compileStoredIndex(model, index, stored);
    definitions.set(key, definition && { ...definition, place });
  }
  return definitions.get(key);
}

/**
 * Returns a model with the definitions that the database has of indexes that the program has
 * changed, in addition to its own. Returns the model itself if there are none.
 */
export function withStoredIndexes(model: CompiledModel, entry: CatalogEntry): CompiledModel {
  const definitions = model.indexes.flatMap((index) => {
    const stored = storedIndexOf(entry, index.name);
    if (stored?.state !== "readable" || isSameIndex(stored, indexManifest(index))) return [];
    return storedDefinition(model, index, stored) ?? [];
  });
  if (definitions.length === 0) return model;
  const place = entry.place ?? model.prefix;
  const indexes = [...model.indexes, ...definitions];
  return { ...model, place, indexes, optionalFields: optionalFields(model.schema, indexes) };
}

/** Returns the replaced definitions of indexes that writers still maintain. */
export function leavingIndexes(model: CompiledModel, entry: CatalogEntry): CompiledIndex[] {
  return model.indexes.flatMap((index) => {
    const leaving = storedIndexOf(entry, index.name)?.leaving;
    return leaving === undefined ? [] : (storedDefinition(model, index, leaving) ?? []);
  });
}

/**
 * Returns an entry with the canonical code of the program's functions, for indexes of which an
 * earlier release has stored only a hash. Programs that are built in another way then know that
 * they have the same functions. Returns the entry itself if it lacks none.
 */
export function withCode(model: CompiledModel, entry: CatalogEntry): CatalogEntry {
  const added = new Map<string, StoredIndex>();
  for (const index of model.indexes) {
    const stored = storedIndexOf(entry, index.name);
    if (stored?.functions === undefined || stored.code !== undefined) continue;
    const now = indexManifest(index);
    const code = codeOf(now);
    if (Object.keys(code).length === 0 || !isSameIndex(stored, now)) continue;
    added.set(index.name, { ...stored, code });
  }
  if (added.size === 0) return entry;
  return { ...entry, indexes: { ...entry.indexes, ...Object.fromEntries(added) } };
}
