import { denoOrder } from "@keywright/core";
import type { CompiledIndex } from "../../../model/compiled-model.js";
import type { TextIndexDefinition } from "../../../text/text-definition.js";
import { hashOf } from "./hash.js";
import { functionsOf, isSameCode, usesFunctions } from "./index-code.js";
import type { IndexManifest, IndexTraits, TextTraits } from "./manifest.js";

const manifests = new WeakMap<CompiledIndex, IndexManifest>();

export function indexManifest(index: CompiledIndex): IndexManifest {
  const known = manifests.get(index);
  if (known !== undefined) return known;
  const manifest = manifestOf(index);
  manifests.set(index, manifest);
  return manifest;
}

function manifestOf(index: CompiledIndex): IndexManifest {
  return {
    prefix: index.prefix,
    fields: index.fields,
    unique: index.unique,
    normalized: index.parts.some((part) => part.normalize !== undefined),
    ...traitsOf(index),
    ...functionsOf(index),
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
    ...(index.text !== undefined && { text: textTraitsOf(index.text) }),
    ...(index.store === "copy" && { value: "copy" }),
    ...(index.store === "include" && { value: index.include }),
  };
  return Object.keys(traits).length === 0 ? {} : { traits };
}

function textTraitsOf({ fields, analyzer }: TextIndexDefinition): TextTraits {
  const { version, language, foldsMarks, stopWords } = analyzer;
  return {
    fields: fields.map(({ field }) => field),
    version,
    ...(language !== undefined && { language }),
    foldsMarks,
    ...(stopWords.length > 0 && { stopWords }),
  };
}

/** True if both manifests describe the same index: it has the same entries for the same rows. */
export function isSameIndex(a: IndexManifest, b: IndexManifest): boolean {
  return a.prefix === b.prefix && isSameKeyedIndex(a, b);
}

/** True if both manifests describe the same index, but for the prefix. */
export function isSameKeyedIndex(a: IndexManifest, b: IndexManifest): boolean {
  return hasSameData(a, b) && isSameCode(a, b);
}

/** True if two definitions of an index differ in nothing but the code of its functions. */
export function differsInCode(a: IndexManifest, b: IndexManifest): boolean {
  const hasFunctions = usesFunctions(a) || usesFunctions(b);
  return hasFunctions && a.prefix === b.prefix && hasSameData(a, b) && !isSameCode(a, b);
}

function hasSameData(a: IndexManifest, b: IndexManifest): boolean {
  if (a === b) return true;
  return a.unique === b.unique && a.normalized === b.normalized && dataHash(a) === dataHash(b);
}

/** The hashes of definitions. A program compares each of them with all others, again and again. */
const dataHashes = new WeakMap<IndexManifest, string>();

function dataHash(manifest: IndexManifest): string {
  let hash = dataHashes.get(manifest);
  if (hash === undefined) {
    const { fields, traits: { normalizers: _, ...others } = {} } = manifest;
    hash = hashOf([fields, others]);
    dataHashes.set(manifest, hash);
  }
  return hash;
}
