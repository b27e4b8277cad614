import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import type { AnyQuery, FoundRow } from "../../state/context/any-query.js";
import type { Page } from "../../state/context/page.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import { scopedUnique } from "../../state/context/scope.js";
import type { TableContext } from "../../state/context/table-context.js";
import { isReadAgain, readAgain } from "../../state/rows/read-again.js";
import { choosePlan } from "../plan/choose-plan.js";
import { planUnique, primaryKeyIn, uniqueValues } from "../plan/plan-unique.js";
import { queriedModel } from "../plan/queried-model.js";
import { findByPrimaryKey, findByUniqueIndex } from "./find-unique.js";
import { readPage, readStream, takeOf } from "./read-page.js";
import { rowSourceOf } from "./rows/row-source.js";

/**
 * Returns the row with the values of a primary key or of a unique index. Costs one read, or two
 * through an index that points to the row.
 *
 * @param query says what is selected. The row itself is read, even if an index entry holds all that
 * is selected, unless `forWrite` is false.
 */
export function findOne(
  context: TableContext,
  unscoped: AnyRow,
  meter: ReadMeter,
  query: AnyQuery = {},
): Promise<FoundRow | undefined> {
  const { model, catalog } = context;
  const where = context.scope === undefined ? unscoped : scopedUnique(context, unscoped);
  const keys = planUnique(queriedModel(context), where, query.index);
  if (keys[0] === "primaryKey") {
    return findByPrimaryKey(context, primaryKeyIn(model, where), meter, query.orAsStored);
  }
  const index = readableIndex(context, keys as readonly CompiledIndex[]);
  if (!catalog.isReadable(index)) return findAfterReload(context, where, meter, query);
  return findByUniqueIndex(context, index, uniqueValues(model, index, where), meter, query);
}

/** Finds a row by a unique index that is chosen after the catalog has been read again. */
async function findAfterReload(
  context: TableContext,
  where: AnyRow,
  meter: ReadMeter,
  query: AnyQuery,
): Promise<FoundRow | undefined> {
  const { model, catalog } = context;
  await catalog.reload();
  return await readAgain(context, () => {
    const keys = planUnique(queriedModel(context), where, query.index);
    const index = readableIndex(context, keys as readonly CompiledIndex[]);
    return findByUniqueIndex(context, index, uniqueValues(model, index, where), meter, query);
  });
}

/** Returns the first unique index that can be read, or else the first. */
function readableIndex(context: TableContext, indexes: readonly CompiledIndex[]): CompiledIndex {
  if (indexes.length === 1) return indexes[0]!;
  return indexes.find((index) => context.catalog.snapshot.canRead(index)) ?? indexes[0]!;
}

/**
 * Returns a page of a query's rows, in the order of the index that serves the query.
 *
 * @param choose returns the plan of the query.
 * @throws {UnindexedQueryError}, {InvalidQueryError}, {UnknownIndexError} if no index serves the
 * query.
 * @throws {IndexNotReadyError} if the index is not built.
 * @throws {InvalidCursorError} if the cursor belongs to another query.
 * @throws {ReadLimitError} if it reads more than `maxReads`.
 * @throws {InvalidArgumentError} if `take` is not a positive integer.
 */
export async function findPage(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
  choose: typeof choosePlan = choosePlan,
): Promise<Page<FoundRow>> {
  takeOf(context.model, query);
  const { catalog } = context;
  for (;;) {
    const { snapshot } = catalog;
    try {
      return await readPage(context, await choose(context, query), query, meter);
    } catch (error) {
      if (!isReadAgain(error, catalog, snapshot)) throw error;
    }
  }
}

export async function findFirstRow(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<FoundRow | undefined> {
  return await readAgain(context, async () => {
    const chosen = await choosePlan(context, query);
    return (await rowSourceOf(context, chosen, query, meter, false).next(1))[0];
  });
}

/**
 * Yields the rows of {@link findPage}. Holds at most 500 of them in memory. Throws the same errors.
 */
export async function* streamRows(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
  choose: typeof choosePlan = choosePlan,
): AsyncGenerator<FoundRow> {
  takeOf(context.model, query);
  yield* readStream(context, await choose(context, query), query, meter);
}
