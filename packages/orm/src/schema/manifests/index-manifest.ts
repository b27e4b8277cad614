import { denoOrder } from "@keywright/core";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { functionSource } from "../functions/function-source.js";
import { hashOf } from "./hash.js";
import type { IndexManifest, IndexTraits } from "./manifest.js";

const manifests = new WeakMap<CompiledIndex, IndexManifest>();

export function indexManifest(index: CompiledIndex): IndexManifest {
  const known = manifests.get(index);
  if (known !== undefined) return known;
  const manifest = manifestOf(index);
  manifests.set(index, manifest);
  return manifest;
}

function manifestOf(index: CompiledIndex): IndexManifest {
  const functions = functionsVersion(index);
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
  const named = index.parts.flatMap(({ field, normalizers }) =>
    normalizers === undefined ? [] : [[field, normalizers] as const],
  );
  const isDenoOrder = index.parts.some((part) => part.descendingOrder === denoOrder);
  const traits: IndexTraits = {
    ...(descending.length > 0 && { descending }),
    ...(isDenoOrder && { descendingOrder: "deno" }),
    ...(index.parts.length > 1 && normalized.length > 0 && { normalized }),
    ...(named.length > 0 && { normalizers: Object.fromEntries(named) }),
    ...(index.each !== undefined && { each: index.fields[index.each]! }),
    ...(index.condition !== undefined && { where: index.condition }),
    ...(index.condition === undefined && index.where !== undefined && { partial: true }),
    ...(index.unmarked !== undefined && { unmarked: index.unmarked }),
    ...(index.parts.some((part) => part.compute !== undefined) && { computed: true }),
    ...(index.store === "copy" && { value: "copy" }),
    ...(index.store === "include" && { value: index.include }),
  };
  return Object.keys(traits).length === 0 ? {} : { traits };
}

/**
 * Returns the version that the index states, or a hash of the source of its functions. The hash
 * ignores white space, quotes and comments, but not trailing commas and semicolons. If a build or a
 * formatter changes the source in other ways, the index must state a version.
 */
function functionsVersion({ parts, version, ...index }: CompiledIndex): string | undefined {
  const where = index.condition === undefined ? index.where : undefined;
  const computed = parts.map((part) => part.compute);
  const normalized = parts.map((part) => (part.normalizers ? undefined : part.normalize));
  // Databases store hashes of this order. In an index with one part, its `normalize` comes first.
  const functions =
    parts.length === 1
      ? [...normalized, where, ...computed]
      : [undefined, where, ...computed, ...(normalized.some(Boolean) ? normalized : [])];
  if (functions.every((fn) => fn === undefined)) return undefined;
  if (version !== undefined) return `version ${version}`;
  return hashOf(functions.map((fn) => (fn === undefined ? null : functionSource(fn))));
}

/** True if both manifests describe the same index: it has the same entries for the same rows. */
export function isSameIndex(a: IndexManifest, b: IndexManifest): boolean {
  return a.prefix === b.prefix && isSameKeyedIndex(a, b);
}

/** True if both manifests describe the same index, but for the prefix. */
export function isSameKeyedIndex(a: IndexManifest, b: IndexManifest): boolean {
  return (
    a.unique === b.unique &&
    a.normalized === b.normalized &&
    // The code of entries that were written by hand is unknown, so it counts as the same.
    (a.functions === undefined || b.functions === undefined || a.functions === b.functions) &&
    hashOf([a.fields, a.traits ?? null]) === hashOf([b.fields, b.traits ?? null])
  );
}
