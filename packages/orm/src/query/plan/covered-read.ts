import type { AnyQuery } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
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

export function isCovered(
  { catalog }: Pick<TableContext, "catalog">,
  plan: QueryPlan,
  query: AnyQuery,
): boolean {
  if (plan.index === undefined) return true;
  // Entries hold rows as they are stored, but a query returns upgraded rows.
  if (catalog.snapshot.upgradesRows) return false;
  if (!isEntryEnough(plan.index, query)) return false;
  // Detecting duplicates needs the whole row.
  return plan.index.store === "copy" || !mayRepeat(plan);
}
