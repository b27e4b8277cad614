import type { AnyRow } from "../model/compiled-model.js";
import type { ReadView } from "../state/context/read-view.js";
import type { RelatedStore } from "../state/context/table-context.js";
import { fieldsOfDerived } from "./plan-derived.js";

/**
 * Returns the fields on which everything depends that a commit checks and writes with a row: what
 * is derived from the row, and its references. A change of other fields needs no plan. Undefined if
 * this may depend on all fields, for example because a function computes a key.
 *
 * @param store has the relations of the model.
 * @param view by the catalog that the commit checks.
 */
export function dependentFields(
  { model, links, scope }: RelatedStore,
  view: ReadView,
): readonly string[] | undefined {
  if (scope !== undefined || links.copiedBy.length > 0) return undefined;
  const derived = fieldsOfDerived(view);
  if (derived === undefined) return undefined;
  const fields = new Set([...model.primaryKey, ...derived]);
  // By any of these indexes, a delete may find a reference of the row.
  for (const index of model.indexes) for (const field of index.fields) fields.add(field);
  for (const field of model.copied.keys()) fields.add(field);
  for (const { relation } of links.relations.values()) {
    if (relation.kind !== "belongsTo") continue;
    for (const field of relation.fields) fields.add(field);
  }
  return [...fields];
}

/**
 * True if a change of a row changes none of its {@link dependentFields}.
 *
 * @param before the row as it is stored.
 */
export function isPlainChange(fields: readonly string[], before: AnyRow, after: AnyRow): boolean {
  for (const field of fields) if (!Object.is(before[field], after[field])) return false;
  return true;
}
