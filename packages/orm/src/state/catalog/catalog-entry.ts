import type { KvKey } from "@keywright/core";
import {
  type CompiledIndex,
  type CompiledModel,
  systemPrefix,
} from "../../model/compiled-model.js";
import { hashOf } from "../schema/manifests/hash.js";
import { indexManifest, isSameIndex } from "../schema/manifests/index-manifest.js";
import type { IndexManifest } from "../schema/manifests/manifest.js";

/**
 * The state of an index. Writers maintain an index in every state except absent and dropping.
 * Readers use it only if it is readable.
 *
 * - `"absent"`: it has no entries. The catalog lists it only if it had some before.
 * - `"write-only"`: a backfill writes the entries of the rows that existed before.
 * - `"verifying"`: rows and entries are compared.
 * - `"unique-pending"`: a unique index waits until its last duplicate is gone.
 * - `"disabled"`: it is complete, but is to be removed when no program reads it any longer. It
 *   belongs to an earlier primary key, a migration drops it, or an earlier release has replaced it.
 * - `"dropping"`: its entries are being removed.
 */
export type IndexState =
  | "absent"
  | "write-only"
  | "verifying"
  | "unique-pending"
  | "readable"
  | "disabled"
  | "dropping";

/** An index whose entries have a place. */
export type PlacedIndex = IndexManifest & {
  readonly state: IndexState;
  /** The first part of the keys of its entries, if it is not the prefix. */
  readonly place?: string;
};

export type StoredIndex = PlacedIndex & {
  /**
   * The changed definition with which the index is being rebuilt. Until that ends, reads use the
   * old entries. Its state is never readable: then it replaces the definition.
   */
  readonly next?: PlacedIndex;
  /**
   * The definition that was replaced last. First it is readable, so that reads that have begun can
   * end, and then disabled. Writers maintain its entries until no program reads them any longer.
   */
  readonly leaving?: PlacedIndex;
  /** The places of entries of other definitions that are still to be removed. */
  readonly leftPlaces?: readonly string[];
  /** The hashes of definitions that programs have changed or dropped, oldest first. */
  readonly earlier?: readonly string[];
  /** Set if it belongs to the other layout: see {@link OtherKey}. No model declares it. */
  readonly isOther?: true;
};

/**
 * Another primary key by which the rows are also stored. While the primary key changes, this is the
 * new one. After the switch, it is the one before, until no reader uses it any longer.
 */
export interface StoredLayout {
  readonly primaryKey: readonly string[];
  /** The first part of the keys of the rows in this layout. */
  readonly place: string;
}

const maxEarlier = 10;

/** Returns the first part of the keys of an index's entries. */
export function placeOf({ place, prefix }: PlacedIndex): string {
  return place ?? prefix;
}

export interface StoredSchema {
  readonly hash: string;
  /** The hashes of earlier manifests. Programs that have one of these may keep writing. */
  readonly accepts: readonly string[];
}

/** A change of all rows. */
export interface RowTransform {
  /** Distinguishes it from others. The commit that begins it writes {@link transformMarkKey}. */
  readonly id: string;
  /** The hash of the manifest of the rows that were written before it began. */
  readonly from: string;
  /**
   * The fields whose values it removes, with all others that the model does not have. Set if it
   * only removes values.
   */
  readonly removes?: readonly string[];
}

/**
 * The change of all rows that is under way. Rows written since it began have the current schema.
 */
export interface RunningTransform extends RowTransform {
  /**
   * Earlier changes that were not complete when a change to another schema began, oldest first.
   * Rows that they have not reached are changed to the current schema at once.
   */
  readonly earlier?: readonly RowTransform[];
  /** Set if all rows were read, so that only rows that could not be changed are left. */
  readonly scanned?: true;
}

/** Returns a change and the incomplete ones before it, oldest first. */
export function transformsOf(transform: RunningTransform | undefined): readonly RowTransform[] {
  if (transform === undefined) return [];
  const { earlier = [], id, from, removes } = transform;
  return [...earlier, { id, from, ...(removes !== undefined && { removes }) }];
}

/**
 * The catalog entry of a model: everything that the database knows about it. Its versionstamp is
 * the model's schema epoch. Every commit that writes a row checks it, so that a commit fails if its
 * program has not read the latest change of this entry.
 */
export interface CatalogEntry {
  /**
   * 2 if rows that expire are counted, 3 if entries have other places than their prefixes, or are
   * going to have them. Programs that do not know what this requires then refuse to write. 0 if the
   * model is being dropped. Then no program can read or write it.
   */
  readonly format: 0 | 1 | 2 | 3;
  readonly indexes: Readonly<Record<string, StoredIndex>>;
  /** The states of the model's counters, by their names: see `countersIn`. */
  readonly counters?: Readonly<Record<string, IndexState>>;
  /**
   * How often counters have been built since rows expire, by the first part of their keys. It tells
   * whether a counter includes a row that an earlier build has counted. Absent is 0.
   */
  readonly counterBuilds?: Readonly<Record<string, number>>;
  /** Set if rows expire or have expired. */
  readonly expires?: true;
  /** Set if a record of changes is kept. From then on every program keeps it. */
  readonly live?: true;
  /** The name of the model when it was last migrated. */
  readonly name?: string;
  /** Absent in a database that no program has migrated. Then any program may write. */
  readonly schema?: StoredSchema;
  /**
   * The `belongsTo` relations, and those that copy fields of this model, as text. Only a program
   * that has all of them may write.
   */
  readonly relations?: readonly string[];
  /** The copied fields that may be outdated or missing in some rows, as `CopyText` has them. */
  readonly unfilled?: readonly string[];
  readonly transform?: RunningTransform;
  /** The first part of the keys of the rows, if it is not the prefix. */
  readonly place?: string;
  readonly otherLayout?: StoredLayout;
}

/** The prefix of the keys of all catalog entries. The last part of a key is the model's prefix. */
export const catalogPrefix: KvKey = [systemPrefix, "catalog"];

export function catalogKey(model: CompiledModel): KvKey {
  return [...catalogPrefix, model.prefix];
}

/**
 * Returns the key of the mark of a change of all rows. The commit that begins the change writes it,
 * and it is not written again. A row with an earlier versionstamp than the mark has the schema
 * before the change. A row with a later one has the schema after it.
 */
export function transformMarkKey(model: CompiledModel, id: string): KvKey {
  return [systemPrefix, "transform", model.prefix, id];
}

/** Returns the stored description of an index, or undefined if the database has none. */
export function storedIndexOf({ indexes }: CatalogEntry, name: string): StoredIndex | undefined {
  return Object.hasOwn(indexes, name) ? indexes[name] : undefined;
}

/** Returns the catalog's description of an index in this state. */
export function storedIndex(index: CompiledIndex, state: IndexState): StoredIndex {
  return { state, ...indexManifest(index) };
}

/**
 * Returns the definition with which an index is being rebuilt, if it is that of the program.
 */
export function nextOf(
  stored: StoredIndex | undefined,
  index: CompiledIndex,
): StoredIndex["next"] | undefined {
  const next = stored?.next;
  return next !== undefined && isSameIndex(next, indexManifest(index)) ? next : undefined;
}

/** A definition in a catalog entry that is the same as that of the program. */
export interface KnownDefinition {
  readonly stored: PlacedIndex;
  /** What it is there of the index. `"renamed"` if the entry has the index under another name. */
  readonly as: "current" | "next" | "leaving" | "renamed";
}

/** Returns the definition that is the same as that of the program. Undefined if there is none. */
export function definitionOf(
  { indexes }: CatalogEntry,
  index: CompiledIndex,
): KnownDefinition | undefined {
  const manifest = indexManifest(index);
  const isSame = (one: PlacedIndex) => isSameIndex(one, manifest);
  const named = Object.hasOwn(indexes, index.name) ? indexes[index.name] : undefined;
  if (named === undefined) {
    const same = Object.values(indexes).filter((other) => !other.isOther && isSame(other));
    const stored = same.find(({ state }) => state === "readable") ?? same[0];
    return stored && { stored, as: "renamed" };
  }
  const { next, leaving } = named;
  if (isSame(named)) return { stored: named, as: "current" };
  if (next !== undefined && isSame(next)) return { stored: next, as: "next" };
  return leaving !== undefined && isSame(leaving) ? { stored: leaving, as: "leaving" } : undefined;
}

/** Returns the places of all entries that the database may have of an index. */
export function placesOf(stored: StoredIndex): string[] {
  const { next, leaving, leftPlaces = [] } = stored;
  const definitions = [stored, next, leaving].flatMap((one) => one ?? []);
  return [...definitions.map(placeOf), ...leftPlaces];
}

/** Returns an entry in which some indexes have another state, and the program's definition. */
export function withIndexStates(
  entry: CatalogEntry,
  indexes: readonly CompiledIndex[],
  state: IndexState,
): CatalogEntry {
  const changed = indexes.map((index) => {
    const before = storedIndexOf(entry, index.name);
    return [index.name, withIndexState(before, index, state)] as const;
  });
  return {
    ...entry,
    indexes: { ...entry.indexes, ...Object.fromEntries(changed) },
  };
}

function withIndexState(
  before: StoredIndex | undefined,
  index: CompiledIndex,
  state: IndexState,
): StoredIndex {
  const next = nextOf(before, index);
  if (before === undefined || next === undefined) {
    const stored = storedIndex(index, state);
    const earlier = withoutCurrent(before?.earlier, stored);
    const isOther = before?.isOther && { isOther: before.isOther };
    const leftPlaces = before?.leftPlaces && { leftPlaces: before.leftPlaces };
    const leaving = before?.leaving && { leaving: before.leaving };
    const place = index.place === index.prefix ? {} : { place: index.place };
    const functions = before && isSameIndex(before, stored) ? functionsIn(before) : {};
    return { ...stored, ...functions, ...place, ...earlier, ...isOther, ...leaving, ...leftPlaces };
  }
  if (state !== "readable") return { ...before, next: { ...next, state } };
  const { next: _next, earlier: _earlier, leaving: left, leftPlaces = [], ...leaving } = before;
  const places = left === undefined ? leftPlaces : [...leftPlaces, placeOf(left)];
  return {
    ...next,
    state,
    ...withoutCurrent(withEarlierDefinition(before).earlier, next),
    leaving,
    ...(places.length > 0 && { leftPlaces: places }),
  };
}

/** Returns the functions of an index in all forms that are known. */
function functionsIn({ functions, code, sameFunctions }: StoredIndex): Partial<IndexManifest> {
  return {
    ...(functions !== undefined && { functions }),
    ...(code !== undefined && { code }),
    ...(sameFunctions !== undefined && { sameFunctions }),
  };
}

/** Returns an index whose replaced definition is no longer maintained. Its entries are left. */
export function withoutLeaving(stored: StoredIndex): StoredIndex {
  const { leaving, leftPlaces = [], ...current } = stored;
  if (leaving === undefined) return stored;
  return { ...current, leftPlaces: [...leftPlaces, placeOf(leaving)] };
}

/**
 * Returns the hashes of a definition: first the one that is stored, which does not depend on how a
 * build prints functions, then the one that earlier releases have stored.
 */
function definitionHashes(manifest: IndexManifest): readonly string[] {
  const { prefix, fields, unique, normalized, traits = null, functions = null } = manifest;
  const ofSource = hashOf([prefix, fields, unique, normalized, traits, functions]);
  if (manifest.code === undefined) return [ofSource];
  return [hashOf([prefix, fields, unique, normalized, traits, manifest.code]), ofSource];
}

function definitionHash(manifest: IndexManifest): string {
  return definitionHashes(manifest)[0]!;
}

/** Adds the definition of an index that is dropped or rebuilt to its earlier ones. */
export function withEarlierDefinition(stored: StoredIndex): StoredIndex {
  const hash = definitionHash(stored);
  const { earlier = [] } = withoutCurrent(stored.earlier, stored);
  return { ...stored, earlier: [...earlier, hash].slice(-maxEarlier) };
}

/** Gives up the definition with which an index is being rebuilt. */
export function withoutNext(stored: StoredIndex): StoredIndex {
  const { next, ...current } = stored;
  if (next === undefined) return stored;
  const { earlier = [], leftPlaces = [] } = stored;
  return {
    ...current,
    earlier: [...earlier, definitionHash(next)].slice(-maxEarlier),
    leftPlaces: [...leftPlaces, placeOf(next)],
  };
}

/** Removes a definition from the earlier ones, because a program goes back to it. */
export function withoutEarlierDefinition(
  { earlier, ...stored }: StoredIndex,
  manifest: IndexManifest,
): StoredIndex {
  return { ...stored, ...withoutCurrent(earlier, manifest) };
}

/**
 * True if the database had this definition of a unique index, and a program has changed or dropped
 * it since. Nothing keeps its values unique any longer.
 */
export function isDroppedUnique(entry: CatalogEntry, index: CompiledIndex): boolean {
  const stored = storedIndexOf(entry, index.name);
  return (
    index.unique &&
    stored !== undefined &&
    !isMaintained(stored.state) &&
    isEarlier(stored, indexManifest(index))
  );
}

/** True if an index once had this definition, and a program has changed or dropped it since. */
export function isEarlier({ earlier = [] }: StoredIndex, manifest: IndexManifest): boolean {
  return definitionHashes(manifest).some((hash) => earlier.includes(hash));
}

function withoutCurrent(
  earlier: StoredIndex["earlier"] = [],
  current: IndexManifest,
): Pick<StoredIndex, "earlier"> {
  const hashes = definitionHashes(current);
  const remaining = earlier.filter((other) => !hashes.includes(other));
  return remaining.length === 0 ? {} : { earlier: remaining };
}

/** Returns an entry with the format that it needs. */
export function withFormat(entry: CatalogEntry): CatalogEntry {
  const hasPlaces = Object.values(entry.indexes).some(
    ({ place, next }) => place !== undefined || next !== undefined,
  );
  if (entry.otherLayout !== undefined || entry.place !== undefined || hasPlaces) {
    return { ...entry, format: 3 };
  }
  return entry.expires && entry.counters !== undefined ? { ...entry, format: 2 } : entry;
}

/** True if the rows and entries of a model are being removed, with everything stored about it. */
export function isBeingDropped({ format }: CatalogEntry): boolean {
  return format === 0;
}

/** Returns whether writers maintain an index or a counter in this state. */
export function isMaintained(state: IndexState): boolean {
  return state !== "absent" && state !== "dropping";
}
