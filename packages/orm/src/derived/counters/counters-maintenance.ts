import type { KvKey } from "@keywright/core";
import {
  type CounterName,
  counterPrefix,
  rowCounter,
} from "../../model/aggregates/counter-name.js";
import { systemPrefix } from "../../model/compiled-model.js";
import { type CatalogEntry, storedIndexOf } from "../../state/catalog/catalog-entry.js";
import {
  countersIn,
  countersOfIndex,
  withCounterStates,
  withoutCounters,
} from "../../state/catalog/stored-counters.js";
import type { ModelStore } from "../../state/context/model-store.js";
import type { Drop, Maintenance } from "../maintenance.js";
import { buildCounters } from "./build-counters.js";
import { counterSteps, countersAfter, droppedCounters } from "./counter-steps.js";
import { countersVerifier } from "./counters-verifier.js";

/** Counts the rows for new counters and ranks, and removes dropped ones. */
export const countersMaintenance: Maintenance = {
  name: "counters",
  steps: counterSteps,
  begin: (entry, facts, steps) => ({ ...entry, ...countersAfter(facts, steps) }),
  disable: (entry, facts, planned) =>
    withCounterStates(entry, droppedCounters(facts, planned), "disabled"),
  placesOfIndex({ name, stored, entry, isShared }) {
    if (isShared) return [];
    const counters = [{ suffix: "" }, ...countersOfIndex(entry, name)];
    return counters.map((counter) => placeIn(stored.prefix, counter));
  },
  withoutIndex: (entry, name) => withoutCounters(entry, countersOfIndex(entry, name)),
  nextDrop,
  build: buildCounters,
  verifier: countersVerifier,
};

function nextDrop({ model, catalog }: ModelStore): Drop | undefined {
  const { entry } = catalog.snapshot;
  const disabled = countersIn(entry).filter(({ state }) => state === "disabled");
  if (disabled.length > 0) {
    const removeFrom = (current: CatalogEntry) => withCounterStates(current, disabled, "dropping");
    return { prefixes: [], isRead: true, removeFrom };
  }
  const dropped = countersIn(entry).find(({ state }) => state === "dropping");
  if (dropped === undefined) return undefined;
  const { name, index } = dropped;
  const prefix = index === undefined ? model.prefix : storedIndexOf(entry, index)?.prefix;
  return {
    // The key of the counter of all rows is the prefix of the keys of others.
    prefixes: name === rowCounter || prefix === undefined ? [] : [placeIn(prefix, dropped)],
    keys: index === undefined ? [placeIn(model.prefix, dropped)] : [],
    removeFrom: (current) => withoutCounters(current, [dropped]),
  };
}

function placeIn(prefix: string, counter: Pick<CounterName, "suffix">): KvKey {
  return [systemPrefix, "count", counterPrefix(prefix, counter)];
}
