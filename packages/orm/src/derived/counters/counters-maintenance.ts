import type { KvKey } from "@keywright/core";
import { countersOfIndex, storedIndexOf, withoutCounter } from "../../catalog/catalog-entry.js";
import type { ModelStore } from "../../context/model-store.js";
import { parseCounterName, rowCounter } from "../../model/aggregates/counter.js";
import { systemPrefix } from "../../model/compiled-model.js";
import type { Drop, Maintenance } from "../maintenance.js";
import { buildCounters } from "./build-counters.js";

/** Counts the rows for new counters and ranks, and removes dropped ones. */
export const countersMaintenance: Maintenance = {
  name: "counters",
  placesOfIndex({ name, stored, entry, isShared }) {
    if (isShared) return [];
    const names = [rowCounter, ...countersOfIndex(entry, name)];
    return names.map((counter) => counterPrefix(stored.prefix, counter));
  },
  nextDrop,
  build: buildCounters,
};

function nextDrop({ model, catalog }: ModelStore): Drop | undefined {
  const { entry } = catalog.snapshot;
  for (const [name, state] of Object.entries(entry.counters ?? {})) {
    if (state !== "dropping") continue;
    const isOfRows = name === rowCounter;
    const { index } = parseCounterName(name);
    const prefix = index === undefined ? model.prefix : storedIndexOf(entry, index)?.prefix;
    return {
      prefixes: isOfRows || prefix === undefined ? [] : [counterPrefix(prefix, name)],
      keys: index === undefined ? [counterPrefix(model.prefix, name)] : [],
      removeFrom: (current) => withoutCounter(current, name),
    };
  }
  return undefined;
}

/** Returns the prefix of the counters of an index, or of a model, by the name of a counter. */
function counterPrefix(prefix: string, counter: string): KvKey {
  const { sum } = parseCounterName(counter);
  return [systemPrefix, "count", sum === undefined ? prefix : `${prefix} ${sum}`];
}
