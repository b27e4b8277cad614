import type { TableContext } from "../../context/table-context.js";
import type { CompiledModel } from "../../model/compiled-model.js";

/**
 * Returns the model by which reads are planned: the one that the catalog shows, or the same without
 * indexes if the read also returns rows that are marked as deleted, because indexes lack them.
 */
export function queriedModel({ catalog, withDeleted }: TableContext): CompiledModel {
  const { readModel } = catalog.snapshot;
  return withDeleted ? { ...readModel, indexes: [] } : readModel;
}
