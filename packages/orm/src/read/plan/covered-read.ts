import type { CompiledIndex } from "../../model/compiled-model.js";
import type { AnyQuery } from "../../state/context/any-query.js";
import type { ReadView } from "../../state/context/read-view.js";
import { mayRepeat, type QueryPlan } from "./ranges/query-plan.js";

export function holdsSelection(index: CompiledIndex, select: AnyQuery["select"]): boolean {
  if (index.store === "copy") return true;
  if (index.store === "pointer" || select === undefined) return false;
  return Object.keys(select).every(
    (field) => !select[field] || index.include.includes(field) || index.inKey.has(field),
  );
}

export function isEntryEnough(index: CompiledIndex, query: AnyQuery): boolean {
  if (query.withVersionstamp || query.forWrite || query.related) return false;
  if (index.store === "copy") return true;
  return (
    query.filter === undefined && query.include === undefined && holdsSelection(index, query.select)
  );
}

/**
 * True if the entries of an index, or of the primary key, include those of rows that are marked as
 * deleted. An index does so until `migrate` has built it for `softDelete`.
 */
export function readsMarkedRows(
  { model }: Pick<ReadView, "model">,
  index: CompiledIndex | undefined,
): boolean {
  return index?.unmarked !== model.softDelete;
}

export function isCovered(view: ReadView, plan: QueryPlan, query: AnyQuery): boolean {
  if (plan.index === undefined) return true;
  // Only the row shows whether it is deleted.
  if (readsMarkedRows(view, plan.index)) return false;
  // Entries hold rows as they are stored, but a query returns upgraded rows.
  if (view.snapshot.upgradesRows) return false;
  if (!isEntryEnough(plan.index, query)) return false;
  // Detecting duplicates needs the whole row.
  return plan.index.store === "copy" || !mayRepeat(plan);
}
