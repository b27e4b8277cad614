import type { CounterName } from "../../model/aggregates/counter-name.js";
import type { CatalogEntry, IndexState } from "../../state/catalog/catalog-entry.js";
import { countersIn, type StoredCounter } from "../../state/catalog/stored-counters.js";

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
