import { rowFilterOf } from "../../read/find/rows/row-filter.js";
import { isRowInPlan } from "../../read/find/rows/row-in-plan.js";
import { choosePlan, chooseScan } from "../../read/plan/choose-plan.js";
import type { AnyQuery, FoundRow } from "../../state/context/any-query.js";
import type { OpenFilters } from "../../state/context/open-filters.js";
import { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";

/** Tests a row. Related rows are read through the view. */
export type RowMatcher = (found: FoundRow, view: ReadView) => boolean | Promise<boolean>;

/** True if a query reads all rows, because no part of it can be served by an index. */
export function isScan({ where, index, orderBy }: AnyQuery): boolean {
  return where === undefined && index === undefined && orderBy === undefined;
}

/**
 * Returns a function that tests whether the current state of a row still matches a query,
 * regardless of order and limit. A row matches if one of its keys is in the ranges that the query
 * reads, if it passes the filter, and if it meets the conditions on related rows.
 *
 * @throws {InvalidArgumentError} if the filter is not valid, and any error of planning the query.
 */
export async function createMatcher(
  view: ReadView,
  query: AnyQuery,
  meter: ReadMeter = new ReadMeter(view.model.name, Number.POSITIVE_INFINITY),
): Promise<RowMatcher> {
  const { plan } = await (isScan(query) ? chooseScan : choosePlan)(view, query);
  const filter = rowFilterOf(view.model, query.filter);
  const isInQuery = (found: FoundRow) =>
    isRowInPlan(plan, found) && (filter === undefined || filter(found.row));
  const { related } = query;
  if (related === undefined) return isInQuery;
  let opened: { readonly kv: unknown; readonly filters: OpenFilters } | undefined;
  return async (found, within) => {
    if (!isInQuery(found)) return false;
    if (opened?.kv !== within.kv) opened = { kv: within.kv, filters: related.open(within, meter) };
    const [passes] = await opened.filters.test([found]);
    return passes === true;
  };
}
