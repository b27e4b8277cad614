import type { CatalogEntry } from "../../state/catalog/catalog-entry.js";
import {
  countersIn,
  type StoredCounter,
  withCounterStates,
} from "../../state/catalog/stored-counters.js";
import type { ModelStore } from "../../state/context/model-store.js";
import { changeCatalog } from "../../state/run/change-catalog.js";
import type { MigrationRun } from "../../state/run/migration-run.js";

/**
 * Disables the counters of a model before entries are repaired, so that they are dropped. A
 * writer that left out an entry has not counted its row either. The state is in the catalog and
 * therefore survives a crash. If the verification is part of a migration, the migration rebuilds
 * the counters instead.
 */
export async function dropCounters(store: ModelStore, { lease }: MigrationRun): Promise<void> {
  await store.catalog.reload();
  await changeCatalog(store, lease, (entry) => {
    const kept = countersIn(entry).filter((one) => !isDropped(one));
    if (kept.length === 0) return undefined;
    const readable = kept.filter(({ state }) => state === "readable");
    const others = kept.filter(({ state }) => state !== "readable");
    return withCounterStates(withCounterStates(entry, others, "dropping"), readable, "disabled");
  });
}

/** True if a counter is being dropped, or is to be. */
export function dropsCounters(entry: CatalogEntry): boolean {
  return countersIn(entry).some(isDropped);
}

function isDropped({ state }: StoredCounter): boolean {
  return state === "disabled" || state === "dropping";
}
