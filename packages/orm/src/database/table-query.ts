import type { Operation } from "../errors/orm-error.js";
import { primaryKeyOfValues } from "../indexes/primary-key.js";
import type { AnyRow } from "../model/compiled-model.js";
import type { AnyQuery, FoundRow } from "../query/any-query.js";
import { chooseOf } from "../query/choose-plan.js";
import { findByPrimaryKey } from "../query/find-unique.js";
import type { QueryPlan } from "../query/query-plan.js";
import type { ReadMeter } from "../query/read-meter.js";
import { readPage, readStream } from "../query/read-page.js";
import type { TableContext } from "../query/table-context.js";
import { RowQuery } from "./row-query.js";
import { runCall, streamCall } from "./run-call.js";

/**
 * A query by plans of its own: awaited a page, iterated row after row.
 *
 * @param query how its pages are read.
 * @param plans made when it is read; the first that can be read is taken.
 */
export function tableQuery<Row>(
  context: TableContext,
  operation: Operation,
  query: AnyQuery,
  plans: () => readonly QueryPlan[],
): RowQuery<Row> {
  const page = async (meter: ReadMeter) => {
    const chosen = await chooseOf(context, plans(), query.cursor);
    const { items, cursor } = await readPage(context, chosen, query, meter);
    return { items: items.map(({ row }) => row as Row), cursor };
  };
  async function* stream(meter: ReadMeter): AsyncGenerator<Row> {
    const chosen = await chooseOf(context, plans(), query.cursor);
    for await (const { row } of readStream(context, chosen, query, meter)) yield row as Row;
  }
  return new RowQuery(
    () => runCall(context, operation, query, page),
    () => streamCall(context, operation, query, stream),
  );
}

/** The row of a primary key, by the values of its fields. */
export function findRow(
  context: TableContext,
  primaryKey: readonly unknown[],
  meter: ReadMeter,
  orAsStored = false,
): Promise<FoundRow | undefined> {
  const parts = primaryKeyOfValues(context.model, primaryKey);
  return findByPrimaryKey(context, parts, meter, orAsStored);
}

/** What names a row in errors, and in the queries of a repository. */
export function whereOf({ model }: TableContext, primaryKey: readonly unknown[]): AnyRow {
  const where: Record<string, unknown> = {};
  for (const [i, field] of model.primaryKey.entries()) where[field] = primaryKey[i];
  return where;
}
