import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import type { TableContext } from "../../state/context/table-context.js";

/**
 * Returns the model by which reads are planned: the one that the catalog shows, with only those of
 * its indexes that the read can use.
 *
 * - A read that also returns rows that are marked as deleted uses none, because indexes lack them.
 * - A read within a scope uses those whose keys have the fields of the scope as they are stored, so
 *   that the conditions of the scope select exactly its rows.
 */
export function queriedModel({ catalog, withDeleted, scope }: TableContext): CompiledModel {
  const { readModel } = catalog.snapshot;
  if (withDeleted) return { ...readModel, indexes: [] };
  return scope === undefined ? readModel : scopedModel(readModel, Object.keys(scope));
}

const scopedModels = new WeakMap<CompiledModel, Map<string, CompiledModel>>();

function scopedModel(model: CompiledModel, fields: readonly string[]): CompiledModel {
  const id = JSON.stringify(fields);
  let byFields = scopedModels.get(model);
  if (byFields === undefined) {
    byFields = new Map();
    scopedModels.set(model, byFields);
  }
  let scoped = byFields.get(id);
  if (scoped === undefined) {
    scoped = { ...model, indexes: model.indexes.filter((index) => isScopedBy(index, fields)) };
    byFields.set(id, scoped);
  }
  return scoped;
}

/** True if the key of an index has all of these fields as they are stored. */
export function isScopedBy({ parts, each }: CompiledIndex, fields: readonly string[]): boolean {
  return fields.every((name) =>
    parts.some(
      ({ field, compute, normalize }, position) =>
        field === name && compute === undefined && normalize === undefined && position !== each,
    ),
  );
}
