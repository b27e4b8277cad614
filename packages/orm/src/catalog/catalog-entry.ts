import type { KvKey } from "@keywright/core";
import type { CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import { ownPrefix } from "../model/compiled-model.js";
import { hashOf } from "../schema/hash.js";
import { indexManifest } from "../schema/index-manifest.js";
import type { IndexManifest } from "../schema/manifest.js";

/**
 * The life of an index. Writers maintain it from write-only on until it is dropped, readers use it only when it is
 * readable; what a unique index waits for as unique-pending is that the last duplicate goes. A disabled one has been
 * replaced by another, and can be readable again. One that is absent has no entries; the catalog lists it where it had some.
 */
export type IndexState =
  | "absent"
  | "write-only"
  | "verifying"
  | "unique-pending"
  | "readable"
  | "disabled"
  | "dropping";

/** An index as the database knows it. */
export type StoredIndex = IndexManifest & {
  readonly state: IndexState;
  /** The name of the index that has taken its place: it is not built anew, as long as the model has both. */
  readonly replacedBy?: string;
  /** Definitions that programs have changed or dropped, as {@link definitionHash} has them: the last is the latest. */
  readonly earlier?: readonly string[];
};

/** So many earlier definitions of an index are kept. */
const mostEarlier = 10;

/** Which rows programs write. */
export interface StoredSchema {
  /** The hash of the manifest of its rows: see `rowManifestKey`. */
  readonly hash: string;
  /** Those of earlier manifests whose programs may go on writing beside it. */
  readonly accepts: readonly string[];
}

/** A change of all rows of a model that is under way. */
export interface RunningTransform {
  /** Tells it from others; `transformMarkKey` is written by the commit that begins it. */
  readonly id: string;
  /** The hash of the manifest of the rows that were there before; those written since are of the schema. */
  readonly from: string;
}

/**
 * What the database knows of a model. Its versionstamp is the model's schema epoch: every commit that writes a row
 * checks it, so that a change here is a fence for all who have not read it.
 */
export interface CatalogEntry {
  readonly format: 1;
  readonly indexes: Readonly<Record<string, StoredIndex>>;
  /** The counts of rows that are kept: `""` of all rows, else of those with the same parts in an index, by its name. */
  readonly counters?: Readonly<Record<string, IndexState>>;
  /** Some of its rows expire, or did: such rows cannot be counted. */
  readonly expires?: true;
  /** A record of changes is kept, by every program from then on. */
  readonly live?: true;
  /** The model's own name when it was last migrated. */
  readonly name?: string;
  /** Absent in a database that no program has migrated: any may write then. */
  readonly schema?: StoredSchema;
  /** Its `belongsTo` relations, each as text: a program without one would write what it refuses. */
  readonly relations?: readonly string[];
  readonly transform?: RunningTransform;
}

/** The name of the count of all rows among the counters. */
export const rowCounter = "";

/** The counters that a model declares. */
export function declaredCounters(model: CompiledModel): string[] {
  const indexes = model.indexes.filter((index) => index.counted).map((index) => index.name);
  return model.counted ? [rowCounter, ...indexes] : indexes;
}

/** Where the models of a database are listed, by their prefixes. */
export const catalogPrefix: KvKey = [ownPrefix, "catalog"];

export function catalogKey(model: CompiledModel): KvKey {
  return [...catalogPrefix, model.prefix];
}

/** Where the manifest of a model's rows is stored, by its hash. */
export function rowManifestKey(model: CompiledModel, hash: string): KvKey {
  return [ownPrefix, "schema", model.prefix, hash];
}

/**
 * Written once, by the commit that begins a change of all rows: a row with an earlier versionstamp than this entry's is of
 * the schema before, one with a later one is of the schema now.
 */
export function transformMarkKey(model: CompiledModel, id: string): KvKey {
  return [ownPrefix, "transform", model.prefix, id];
}

/** How the catalog describes an index of this state. */
export function storedIndex(index: CompiledIndex, state: IndexState): StoredIndex {
  return { state, ...indexManifest(index) };
}

/** A catalog entry in which some indexes have another state, as the program defines them. */
export function withIndexStates(
  entry: CatalogEntry,
  indexes: readonly CompiledIndex[],
  state: IndexState,
): CatalogEntry {
  const changed = indexes.map((index) => {
    const before = Object.hasOwn(entry.indexes, index.name) ? entry.indexes[index.name] : undefined;
    const stored = storedIndex(index, state);
    return [index.name, { ...stored, ...earlierThan(before?.earlier, stored) }] as const;
  });
  return {
    ...entry,
    indexes: { ...entry.indexes, ...Object.fromEntries(changed) },
  };
}

/** Stands for the definition of an index: of two that are the same it is the same. */
function definitionHash(manifest: IndexManifest): string {
  const { prefix, fields, unique, normalized, traits = null, functions = null } = manifest;
  return hashOf([prefix, fields, unique, normalized, traits, functions]);
}

/** What a program is about to drop, or to build by another definition: the catalog remembers that it was. */
export function asEarlier(stored: StoredIndex): StoredIndex {
  const hash = definitionHash(stored);
  const { earlier = [] } = earlierThan(stored.earlier, stored);
  return { ...stored, earlier: [...earlier, hash].slice(-mostEarlier) };
}

/** Whether an index has been of this definition, and a program has changed or dropped it since. */
export function isEarlier({ earlier = [] }: StoredIndex, manifest: IndexManifest): boolean {
  return earlier.includes(definitionHash(manifest));
}

/** Earlier definitions without the one that is the index's now. */
function earlierThan(
  earlier: StoredIndex["earlier"] = [],
  now: IndexManifest,
): Pick<StoredIndex, "earlier"> {
  const hash = definitionHash(now);
  const left = earlier.filter((one) => one !== hash);
  return left.length === 0 ? {} : { earlier: left };
}

/** A catalog entry in which some counters have another state. */
export function withCounterStates(
  entry: CatalogEntry,
  names: readonly string[],
  state: IndexState,
): CatalogEntry {
  const changed = names.map((name) => [name, state] as const);
  return { ...entry, counters: { ...entry.counters, ...Object.fromEntries(changed) } };
}

/** Whether writers put rows into an index of this state. */
export function isMaintained(state: IndexState): boolean {
  return (
    state === "write-only" ||
    state === "verifying" ||
    state === "unique-pending" ||
    state === "readable" ||
    state === "disabled"
  );
}
