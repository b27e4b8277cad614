import {
  type CounterName,
  counterPrefix,
  parseCounterName,
} from "../../model/aggregates/counter-name.js";
import { type CatalogEntry, type IndexState, storedIndexOf } from "./catalog-entry.js";

/** A counter as the catalog has it. */
export interface StoredCounter extends CounterName {
  readonly state: IndexState;
}

const parsed = new WeakMap<object, readonly StoredCounter[]>();

/** Returns the counters that a catalog entry has. Their names are parsed once for each entry. */
export function countersIn({ counters }: Pick<CatalogEntry, "counters">): readonly StoredCounter[] {
  if (counters === undefined) return [];
  const known = parsed.get(counters);
  if (known !== undefined) return known;
  const stored = Object.entries(counters).map(([name, state]) => {
    return { ...parseCounterName(name), state };
  });
  parsed.set(counters, stored);
  return stored;
}

/** Returns an entry in which some counters have another state. */
export function withCounterStates(
  entry: CatalogEntry,
  counters: readonly Pick<CounterName, "name">[],
  state: IndexState,
): CatalogEntry {
  if (counters.length === 0) return entry;
  const changed = counters.map(({ name }) => [name, state] as const);
  return { ...entry, counters: { ...entry.counters, ...Object.fromEntries(changed) } };
}

/** Returns an entry without some counters. */
export function withoutCounters(
  entry: CatalogEntry,
  removed: readonly Pick<CounterName, "name">[],
): CatalogEntry {
  const { counters, ...rest } = entry;
  if (counters === undefined || removed.length === 0) return entry;
  const names = new Set(removed.map(({ name }) => name));
  const remaining = Object.entries(counters).filter(([name]) => !names.has(name));
  return remaining.length === 0 ? rest : { ...rest, counters: Object.fromEntries(remaining) };
}

/** Returns the counters that an entry has of an index. */
export function countersOfIndex(entry: CatalogEntry, index: string): readonly StoredCounter[] {
  return countersIn(entry).filter((counter) => counter.index === index);
}

/** Returns the prefixes under which sums and ranks are stored, without the system prefix. */
export function prefixesOfSums(entry: CatalogEntry, rowsPrefix: string): string[] {
  return countersIn(entry).flatMap((counter) => {
    const { index, suffix } = counter;
    const prefix = index === undefined ? rowsPrefix : storedIndexOf(entry, index)?.prefix;
    return suffix === "" || prefix === undefined ? [] : [counterPrefix(prefix, counter)];
  });
}
