import type { AnyQuery } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { mayRepeat, type QueryPlan } from "./query-plan.js";

/** Whether an index's entries hold what is selected of the rows. */
export function holdsSelection(index: CompiledIndex, select: AnyQuery["select"]): boolean {
  if (index.store === "copy") return true;
  if (index.store === "pointer" || select === undefined) return false;
  return Object.keys(select).every((field) => !select[field] || index.include.includes(field));
}

/** Whether entries of an index are all that a query of it reads: they hold what it is to return. */
export function isEntryEnough(index: CompiledIndex, query: AnyQuery): boolean {
  if (query.withVersionstamp || query.forWrite) return false;
  if (index.store === "copy") return true;
  return (
    query.filter === undefined && query.include === undefined && holdsSelection(index, query.select)
  );
}

/** Whether a plan answers a query without reading rows beside the index. */
export function isCovered(
  { catalog }: Pick<TableContext, "catalog">,
  plan: QueryPlan,
  query: AnyQuery,
): boolean {
  if (plan.index === undefined) return true;
  // Entries hold what rows were of which others are made as they are read.
  if (catalog.snapshot.upgradesRows) return false;
  if (!isEntryEnough(plan.index, query)) return false;
  // Whether a row was met before is told by the whole row.
  return plan.index.store === "copy" || !mayRepeat(plan);
}
