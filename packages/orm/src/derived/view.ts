import type { Kv } from "@keywright/core";
import type { CatalogSnapshot } from "../catalog/catalog-snapshot.js";
import type { ModelCatalog } from "../catalog/model-catalog.js";
import type { TableLimits } from "../context/table-context.js";
import type { CompiledModel } from "../model/compiled-model.js";

/** One model in a database. */
export interface ModelStore {
  /** The database, or the transaction that reads go through. */
  readonly kv: Kv;
  readonly model: CompiledModel;
  readonly catalog: ModelCatalog;
  readonly limits: TableLimits;
}

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
