import type { KvKey } from "@keywright/core";
import type { AnyQuery, FoundRow } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import { IndexKeyError } from "../../errors/row-errors.js";
import { indexKeys } from "../../indexes/index-entries.js";
import { rowKey } from "../../indexes/primary-key.js";
import { choosePlan, chooseScan } from "../../query/plan/choose-plan.js";
import { type QueryPlan, segmentOf } from "../../query/plan/query-plan.js";
import { rowFilterOf } from "../../query/read/row-filter.js";

/** Whether a row is one of those that a query asks for. */
export type Matches = (found: FoundRow) => boolean;

/** Whether a query reads all rows: it says nothing that an index could serve. */
export function isScan({ where, index, orderBy }: AnyQuery): boolean {
  return where === undefined && index === undefined && orderBy === undefined;
}

/**
 * Says of rows as they are now whether they still are what a query asks for, its order and number aside: whether they
 * have a key among those that it reads, and pass its filter.
 *
 * @throws {InvalidArgumentError} for a filter that is no function, or answers with a promise.
 * @throws what planning the query throws.
 */
export async function matcherOf(context: TableContext, query: AnyQuery): Promise<Matches> {
  const { plan } = await (isScan(query) ? chooseScan : choosePlan)(context, query);
  const filter = rowFilterOf(context.model, query.filter);
  return (found) =>
    keysOf(plan, found).some((key) => segmentOf(plan, key) >= 0) &&
    (filter === undefined || filter(found.row));
}

/** The keys that a row has in what a plan reads. */
function keysOf({ model, index }: QueryPlan, { row, primaryKey }: FoundRow): readonly KvKey[] {
  if (index === undefined) return [rowKey(model, primaryKey)];
  try {
    return indexKeys(model, index, row, primaryKey);
  } catch (error) {
    // A row written by hand, with a value that the index cannot hold, has no key in it.
    if (error instanceof IndexKeyError) return [];
    throw error;
  }
}
