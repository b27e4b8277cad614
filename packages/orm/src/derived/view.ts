import type { CatalogSnapshot } from "../state/catalog/catalog-snapshot.js";
import type { ModelStore } from "../state/context/model-store.js";

/** One model, as the catalog described it at one time. */
export interface View extends ModelStore {
  /** The commit that uses what was read through the view checks that it is still valid. */
  readonly snapshot: CatalogSnapshot;
}

/** Returns the view of a store by a snapshot of its catalog: by default, the last one read. */
export function viewOf(
  { kv, model, catalog, limits }: ModelStore,
  snapshot: CatalogSnapshot = catalog.snapshot,
): View {
  return { kv, model, catalog, limits, snapshot };
}
