import type { KvKey } from "@keywright/core";
import type { CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import { ownPrefix } from "../model/compiled-model.js";

/**
 * The life of an index. Writers maintain it from write-only on, readers use it only when it is readable; what a unique
 * index waits for as unique-pending is that the last duplicate goes. An index that the catalog does not list is absent.
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
export interface StoredIndex {
  readonly state: IndexState;
  readonly prefix: string;
  readonly fields: readonly string[];
  readonly unique: boolean;
  readonly normalized: boolean;
  /** What else it is, where it is: what says nothing here is absent, so that older entries stay as they are. */
  readonly traits?: IndexTraits;
}

/** What an index may be beside its fields. */
export interface IndexTraits {
  /** The fields that are sorted from last to first. */
  readonly descending?: readonly string[];
  /** The field whose elements have an entry each. */
  readonly each?: string;
  /** It does not hold every row that has its fields. */
  readonly partial?: true;
  /** A part of its key is what a function makes of the row. */
  readonly computed?: true;
  /** What its entries hold, where that is no pointer: the row, or these fields. */
  readonly value?: "copy" | readonly string[];
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
}

/** The name of the count of all rows among the counters. */
export const rowCounter = "";

/** The counters that a model declares. */
export function declaredCounters(model: CompiledModel): string[] {
  const indexes = model.indexes.filter((index) => index.counted).map((index) => index.name);
  return model.counted ? [rowCounter, ...indexes] : indexes;
}

export function catalogKey(model: CompiledModel): KvKey {
  return [ownPrefix, "catalog", model.name];
}

/** How the catalog describes an index of this state. */
export function storedIndex(index: CompiledIndex, state: IndexState): StoredIndex {
  return {
    state,
    prefix: index.prefix,
    fields: index.fields,
    unique: index.unique,
    normalized: index.normalize !== undefined,
    ...traitsOf(index),
  };
}

function traitsOf(index: CompiledIndex): { traits?: IndexTraits } {
  const descending = index.parts.filter((part) => part.descending).map((part) => part.field);
  const traits: IndexTraits = {
    ...(descending.length > 0 && { descending }),
    ...(index.each !== undefined && { each: index.fields[index.each]! }),
    ...(index.where !== undefined && { partial: true }),
    ...(index.parts.some((part) => part.compute !== undefined) && { computed: true }),
    ...(index.store === "copy" && { value: "copy" }),
    ...(index.store === "include" && { value: index.include }),
  };
  return Object.keys(traits).length === 0 ? {} : { traits };
}

/** A catalog entry in which some indexes have another state. */
export function withIndexStates(
  entry: CatalogEntry,
  indexes: readonly CompiledIndex[],
  state: IndexState,
): CatalogEntry {
  const changed = indexes.map((index) => [index.name, storedIndex(index, state)] as const);
  return {
    ...entry,
    indexes: { ...entry.indexes, ...Object.fromEntries(changed) },
  };
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

/** Whether two descriptions are of the same index, whatever their states. */
export function isSameIndex(a: StoredIndex, b: StoredIndex): boolean {
  return (
    a.prefix === b.prefix &&
    a.unique === b.unique &&
    a.normalized === b.normalized &&
    JSON.stringify([a.fields, a.traits]) === JSON.stringify([b.fields, b.traits])
  );
}

/** Whether writers put rows into an index of this state. */
export function isMaintained(state: IndexState): boolean {
  return (
    state === "write-only" ||
    state === "verifying" ||
    state === "unique-pending" ||
    state === "readable"
  );
}
