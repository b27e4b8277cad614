import { type CounterName, parseCounterName } from "../../model/aggregates/counter-name.js";
import type { CatalogEntry, IndexState } from "./catalog-entry.js";

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
