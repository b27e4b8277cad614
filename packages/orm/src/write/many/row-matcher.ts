import type { KvKey } from "@keywright/core";
import type { AnyQuery, FoundRow } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import { IndexKeyError } from "../../errors/row-errors.js";
import { indexKeys } from "../../indexes/index-entries.js";
import { rowKey } from "../../indexes/primary-key.js";
import { choosePlan, chooseScan } from "../../query/plan/choose-plan.js";
import { findSegment, plansIn, type QueryPlan } from "../../query/plan/ranges/query-plan.js";
import { rowFilterOf } from "../../query/read/row-filter.js";

export type RowMatcher = (found: FoundRow) => boolean;

/** True if a query reads all rows, because no part of it can be served by an index. */
export function isScan({ where, index, orderBy }: AnyQuery): boolean {
  return where === undefined && index === undefined && orderBy === undefined;
}

/**
 * Returns a function that tests whether the current state of a row still matches a query,
 * regardless of order and limit. A row matches if one of its keys is in the ranges that the query
 * reads, and if it passes the filter.
 *
 * @throws {InvalidArgumentError} if the filter is not valid, and any error of planning the query.
 */
export async function createMatcher(context: TableContext, query: AnyQuery): Promise<RowMatcher> {
  const { plan } = await (isScan(query) ? chooseScan : choosePlan)(context, query);
  const filter = rowFilterOf(context.model, query.filter);
  return (found) =>
    plansIn(plan).some((each) => hasRow(each, found)) &&
    (filter === undefined || filter(found.row));
}

function hasRow(plan: QueryPlan, found: FoundRow): boolean {
  return keysOf(plan, found).some((key) => findSegment(plan, key) >= 0);
}

/** Returns the keys of a row in the index that a plan reads. */
function keysOf({ model, index }: QueryPlan, { row, primaryKey }: FoundRow): readonly KvKey[] {
  if (index === undefined) return [rowKey(model, primaryKey)];
  try {
    return indexKeys(model, index, row, primaryKey);
  } catch (error) {
    // A row written by hand may have a value that the index cannot hold. It then has no key there.
    if (error instanceof IndexKeyError) return [];
    throw error;
  }
}
