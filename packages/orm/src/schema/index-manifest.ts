import type { CompiledIndex } from "../model/compiled-model.js";
import { functionSource } from "./function-source.js";
import { hashOf } from "./hash.js";
import type { IndexManifest, IndexTraits } from "./manifest.js";

const manifests = new WeakMap<CompiledIndex, IndexManifest>();

/** An index as data. */
export function indexManifest(index: CompiledIndex): IndexManifest {
  const known = manifests.get(index);
  if (known !== undefined) return known;
  const manifest = manifestOf(index);
  manifests.set(index, manifest);
  return manifest;
}

function manifestOf(index: CompiledIndex): IndexManifest {
  const functions = functionsOf(index);
  return {
    prefix: index.prefix,
    fields: index.fields,
    unique: index.unique,
    normalized: index.parts.some((part) => part.normalize !== undefined),
    ...traitsOf(index),
    ...(functions !== undefined && { functions }),
  };
}

function traitsOf(index: CompiledIndex): { traits?: IndexTraits } {
  const descending = index.parts.filter((part) => part.descending).map((part) => part.field);
  const normalized = index.parts.filter((part) => part.normalize).map((part) => part.field);
  const traits: IndexTraits = {
    ...(descending.length > 0 && { descending }),
    ...(index.parts.length > 1 && normalized.length > 0 && { normalized }),
    ...(index.each !== undefined && { each: index.fields[index.each]! }),
    ...(index.where !== undefined && { partial: true }),
    ...(index.parts.some((part) => part.compute !== undefined) && { computed: true }),
    ...(index.store === "copy" && { value: "copy" }),
    ...(index.store === "include" && { value: index.include }),
  };
  return Object.keys(traits).length === 0 ? {} : { traits };
}

/**
 * What stands for the code of an index's functions. Space, quotes and comments say nothing here; where a program is
 * built so that names are shortened or numbers are written otherwise, the index has to state a version.
 */
function functionsOf({ where, parts, version }: CompiledIndex): string | undefined {
  const computed = parts.map((part) => part.compute);
  const normalized = parts.map((part) => part.normalize);
  // Databases hold hashes of this order: the function of an only part comes first.
  const functions =
    parts.length === 1
      ? [...normalized, where, ...computed]
      : [undefined, where, ...computed, ...(normalized.some(Boolean) ? normalized : [])];
  if (functions.every((fn) => fn === undefined)) return undefined;
  if (version !== undefined) return `version ${version}`;
  return hashOf(functions.map((fn) => (fn === undefined ? null : functionSource(fn))));
}

/** Whether two descriptions are of the same index, which has the same entries for the same rows. */
export function isSameIndex(a: IndexManifest, b: IndexManifest): boolean {
  return a.prefix === b.prefix && isSameKeyedIndex(a, b);
}

/** Whether two descriptions are of the same index, wherever its entries are. */
export function isSameKeyedIndex(a: IndexManifest, b: IndexManifest): boolean {
  return (
    a.unique === b.unique &&
    a.normalized === b.normalized &&
    // Entries that somebody wrote by hand say nothing of the functions that made them.
    (a.functions === undefined || b.functions === undefined || a.functions === b.functions) &&
    hashOf([a.fields, a.traits ?? null]) === hashOf([b.fields, b.traits ?? null])
  );
}
