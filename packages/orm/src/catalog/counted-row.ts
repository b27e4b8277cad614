import type { KvKey, KvKeyPart } from "@keywright/core";
import { type CompiledModel, systemPrefix } from "../model/compiled-model.js";
import type { CatalogEntry } from "./catalog-entry.js";
import type { CatalogSnapshot, CounterSet } from "./catalog-snapshot.js";

/**
 * A counter that includes a row: the number of its build (see `CatalogEntry.counterBuilds`), then
 * the parts of the counter's key after `["__keywright", "count"]`.
 */
export type CountedIn = readonly [build: number, prefix: string, ...parts: KvKeyPart[]];

export function countedUntilPrefix(model: CompiledModel): KvKey {
  return [systemPrefix, "counted-until", model.prefix];
}

/**
 * Returns the key of the time until which counters include a row that expires, in milliseconds
 * since 1970. The commit that writes the row writes it too, but it does not expire. The time is not
 * later than that at which the row expires.
 */
export function countedUntilKey(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KvKey {
  return [...countedUntilPrefix(model), ...primaryKey];
}

export function countedRowsPrefix(model: CompiledModel): KvKey {
  return [systemPrefix, "counted-row", model.prefix];
}

/**
 * Returns the key of the counters that include a row that expires: a list of {@link CountedIn}. It
 * is written and deleted in the same commits as the time under {@link countedUntilKey}. It contains
 * this time, so that rows that have expired are found without a scan of all rows.
 */
export function countedRowKey(
  model: CompiledModel,
  until: number,
  primaryKey: readonly KvKeyPart[],
): KvKey {
  return [...countedRowsPrefix(model), until, ...primaryKey];
}

/** Describes counters, given by their keys, as they are recorded for a row. */
export function countedIn(entry: CatalogEntry, keys: readonly KvKey[]): CountedIn[] {
  return keys.map((key) => {
    const [prefix, ...parts] = key.slice(2) as [string, ...KvKeyPart[]];
    return [buildOf(entry, prefix), prefix, ...parts];
  });
}

/**
 * Returns the keys of the counters that still include a row, of those that a record lists. A
 * counter that is not maintained, or that was built again later, is left out.
 */
export function includingCounters(
  model: CompiledModel,
  { entry, counters, growingCounters }: CatalogSnapshot,
  recorded: readonly CountedIn[],
): KvKey[] {
  const sets = [counters, growingCounters].filter((set) => set !== undefined);
  return recorded
    .filter(([build, prefix, ...parts]) => {
      const isMaintained = sets.some((set) => hasCounter(model, set, prefix, parts.length));
      return isMaintained && build === buildOf(entry, prefix);
    })
    .map(([, ...key]) => [systemPrefix, "count", ...key]);
}

function buildOf({ counterBuilds = {} }: CatalogEntry, prefix: string): number {
  return Object.hasOwn(counterBuilds, prefix) ? (counterBuilds[prefix] ?? 0) : 0;
}

function hasCounter(
  model: CompiledModel,
  { rows, indexes }: CounterSet,
  prefix: string,
  partCount: number,
): boolean {
  if (partCount === 0) return rows && prefix === model.prefix;
  return [...indexes].some((index) => index.prefix === prefix && index.parts.length === partCount);
}
