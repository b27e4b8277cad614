import type { AnyQuery, FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import { choosePlan, chooseScan, readablePlan } from "../plan/choose-plan.js";
import { planUnique, uniquePart } from "../plan/plan-unique.js";
import { findByPrimaryKey, findByUniqueIndex } from "./find-unique.js";
import { type Page, readPage, readStream, takeOf } from "./read-page.js";
import { RowReader } from "./row-reader.js";

/**
 * Returns the row with the values of a primary key or of a unique index. Costs one read, or two
 * through an index that points to the row.
 *
 * @param query says what is selected. The row itself is read, even if an index entry holds all that
 * is selected, unless `forWrite` is false.
 */
export function findOne(
  context: TableContext,
  where: AnyRow,
  meter: ReadMeter,
  query: AnyQuery = {},
): Promise<FoundRow | undefined> {
  const { model } = context;
  const keys = planUnique(model, where);
  if (keys[0] === "primaryKey") {
    const primaryKey =
      model.primaryKey.length === 1
        ? [uniquePart(model, model.primaryKey[0]!, where[model.primaryKey[0]!], true)]
        : model.primaryKey.map((field) => uniquePart(model, field, where[field], true));
    return findByPrimaryKey(context, primaryKey, meter, query.orAsStored);
  }
  const plans = keys.flatMap((key) => (key === "primaryKey" ? [] : [{ index: key }]));
  const { index } = readablePlan(context, plans);
  return plans.length === 1 || context.catalog.isReadable(index)
    ? findByIndex(context, index, where, meter, query)
    : context.catalog
        .reload()
        .then(() => findByIndex(context, readablePlan(context, plans).index, where, meter, query));
}

function findByIndex(
  context: TableContext,
  index: CompiledIndex,
  where: AnyRow,
  meter: ReadMeter,
  query: AnyQuery,
): Promise<FoundRow | undefined> {
  const { model } = context;
  const values = index.parts.map(({ field, normalize }) => {
    uniquePart(model, field, where[field], normalize === undefined);
    return where[field];
  });
  return findByUniqueIndex(context, index, values, meter, query);
}

export async function findPage(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<Page<FoundRow>> {
  takeOf(query);
  return await readPage(context, await choosePlan(context, query), query, meter);
}

export async function findFirstRow(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<FoundRow | undefined> {
  const reader = new RowReader(context, await choosePlan(context, query), query, meter, false);
  return (await reader.next(1))[0];
}

/** Returns a page of all rows that pass the filter, in the order of the primary key. */
export async function scanPage(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<Page<FoundRow>> {
  takeOf(query);
  return await readPage(context, await chooseScan(context, query), query, meter);
}

/** Yields the rows of {@link findPage}. Holds at most 500 of them in memory. */
export async function* streamRows(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): AsyncGenerator<FoundRow> {
  takeOf(query);
  yield* readStream(context, await choosePlan(context, query), query, meter);
}

/** Yields the rows of {@link scanPage}. Holds at most 500 of them in memory. */
export async function* scanRows(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): AsyncGenerator<FoundRow> {
  takeOf(query);
  yield* readStream(context, await chooseScan(context, query), query, meter);
}
