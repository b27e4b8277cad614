import type { AnyQuery, FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import { choosePlan, chooseScan, isReadable } from "../plan/choose-plan.js";
import { planUnique, uniquePart } from "../plan/plan-unique.js";
import { findByPrimaryKey, findByUniqueIndex } from "./find-unique.js";
import { type Page, readPage, readStream, takeOf } from "./read-page.js";
import { RowReader } from "./row-reader.js";

/**
 * The row that has the values of a primary key or of a unique index. One read, two through an index that points to it.
 *
 * @param query what is selected of it. The row itself is read, whatever an index holds, unless `forWrite` is false.
 * @throws {UnindexedQueryError} where no unique key has the fields of `where`, all of them and no other.
 * @throws {InvalidQueryError} for what is not one value, or of another kind than the field's.
 * @throws {IndexNotReadyError} where the index is not built.
 * @throws {StoredRowInvalidError} where what is stored is no row.
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
        ? [uniquePart(model, model.primaryKey[0]!, where, true)]
        : model.primaryKey.map((field) => uniquePart(model, field, where, true));
    return findByPrimaryKey(context, primaryKey, meter, query.orAsStored);
  }
  const indexes = keys.filter((key) => key !== "primaryKey");
  const index = readableIndex(context, indexes);
  return indexes.length === 1 || context.catalog.isReadable(index)
    ? findByIndex(context, index, where, meter, query)
    : findAfterReload(context, indexes, where, meter, query);
}

/** Finds a row by the first of some unique indexes that can be read, by what the database says now. */
async function findAfterReload(
  context: TableContext,
  indexes: readonly CompiledIndex[],
  where: AnyRow,
  meter: ReadMeter,
  query: AnyQuery,
): Promise<FoundRow | undefined> {
  await context.catalog.reload();
  return await findByIndex(context, readableIndex(context, indexes), where, meter, query);
}

/** The first index that can be read, as far as is known; the very first where none can. */
function readableIndex(context: TableContext, indexes: readonly CompiledIndex[]): CompiledIndex {
  return indexes.find((index) => isReadable(context, index)) ?? indexes[0]!;
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
    uniquePart(model, field, where, normalize === undefined);
    return where[field];
  });
  return findByUniqueIndex(context, index, values, meter, query);
}

/**
 * A page of a query's rows, in the order of the index that serves it.
 *
 * @throws {UnindexedQueryError}, {InvalidQueryError}, {UnknownIndexError} for a query that no index serves.
 * @throws {IndexNotReadyError} where the index is not built.
 * @throws {InvalidCursorError} for a cursor of another query.
 * @throws {ReadLimitError} where it reads more than it may.
 * @throws {RangeError} where `take` is not a positive integer.
 */
export async function findPage(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<Page<FoundRow>> {
  takeOf(query);
  return await readPage(context, await choosePlan(context, query), query, meter);
}

/** The first row of {@link findPage}; undefined where there is none. It reads no further. Throws as it does. */
export async function findFirstRow(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<FoundRow | undefined> {
  const reader = new RowReader(context, await choosePlan(context, query), query, meter, false);
  return (await reader.next(1))[0];
}

/** A page of all rows that pass the filter, in the order of the primary key. Throws as {@link findPage}. */
export async function scanPage(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<Page<FoundRow>> {
  takeOf(query);
  return await readPage(context, await chooseScan(context, query), query, meter);
}

/** The rows of {@link findPage}, one after another, of which a few hundred are held at the most. Throws as it does. */
export async function* streamRows(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): AsyncGenerator<FoundRow> {
  takeOf(query);
  yield* readStream(context, await choosePlan(context, query), query, meter);
}

/** The rows of {@link scanPage}, one after another, of which a few hundred are held at the most. Throws as it does. */
export async function* scanRows(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): AsyncGenerator<FoundRow> {
  takeOf(query);
  yield* readStream(context, await chooseScan(context, query), query, meter);
}
