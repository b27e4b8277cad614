import { ReferenceMissingError, VersionConflictError } from "../../../errors/row-errors.js";
import type { AnyRow } from "../../../model/compiled-model.js";
import { resultRow, resultRows } from "../../../read/find/rows/shaped-result.js";
import { loadRelations } from "../../../read/include/load-relations.js";
import type { MissingRow } from "../../../read/include/relation-load.js";
import type { AnyQuery, FoundRow } from "../../../state/context/any-query.js";
import type { ReadMeter } from "../../../state/context/read-meter.js";
import { type ReadView, viewOf, withReadView } from "../../../state/context/read-view.js";
import type { TableContext } from "../../../state/context/table-context.js";
import { foundRow, readRows } from "../../../state/rows/read-rows.js";
import { createMatcher } from "../../../write/many/row-matcher.js";

/**
 * A row as the caller requested it, with its fields selected, its relations loaded, and with or
 * without its versionstamp. Its type is that of the interface through which the caller sees it.
 */
// biome-ignore lint/suspicious/noExplicitAny: `unknown` would make the methods fit no interface.
export type ShapedRow = any;

/** Determines what is returned of rows. */
type Shape = Pick<AnyQuery, "select" | "returned" | "include" | "withVersionstamp">;

/**
 * Shapes one row. Returns it without a promise if nothing has to be read, and the model has no
 * `afterRead` hook.
 */
export function shapeRow(
  view: ReadView,
  found: FoundRow,
  shape: Shape,
  meter: ReadMeter,
): ShapedRow | Promise<ShapedRow> {
  if (shape.include === undefined && !shape.withVersionstamp) {
    return resultRow(view, found.row, shape);
  }
  return shapeRows(view, [found], shape, meter).then(([shaped]) => shaped);
}

/**
 * Returns rows as the caller requested them.
 *
 * @param missing the result of a required relation whose row is missing.
 * @throws {VersionConflictError} if an included row was deleted during the read.
 * @throws the errors of `loadRelations`.
 */
export async function shapeRows(
  view: ReadView,
  found: readonly FoundRow[],
  shape: Shape,
  meter: ReadMeter,
  missing: MissingRow = "refused",
): Promise<ShapedRow[]> {
  const { include, withVersionstamp } = shape;
  const rows: AnyRow[] = [];
  for (const { row } of found) rows.push(row);
  const results = resultRows(view, rows, shape);
  const selected = results instanceof Promise ? await results : results;
  const loaded =
    include === undefined
      ? [...selected]
      : await loadRelations(view, rows, selected, include, meter, missing);
  if (!withVersionstamp) return loaded;
  return found.map(({ versionstamp }, i) => ({ row: loaded[i], versionstamp }));
}

/**
 * Returns rows that were written, as they were written, even if others have changed them since. If
 * a related row has been deleted since, the relation is null. This must not throw, because a caller
 * that takes the error for a failure of the write would repeat the write.
 */
export async function shapeWrittenRows(
  context: TableContext,
  found: readonly FoundRow[],
  shape: Shape,
  meter: ReadMeter,
): Promise<ShapedRow[]> {
  if (shape.include === undefined) return await shapeRows(viewOf(context), found, shape, meter);
  const read = (missing?: MissingRow) =>
    withReadView(context, [], (view) => shapeRows(view, found, shape, meter, missing));
  try {
    return await read();
  } catch (error) {
    const isGone = error instanceof VersionConflictError || error instanceof ReferenceMissingError;
    if (!isGone) throw error;
    return await read("null");
  }
}

/** Shapes one row as {@link shapeWrittenRows}, without a promise if {@link shapeRow} needs none. */
export function shapeWrittenRow(
  context: TableContext,
  found: FoundRow,
  shape: Shape,
  meter: ReadMeter,
): ShapedRow | Promise<ShapedRow> {
  if (shape.include === undefined) return shapeRow(viewOf(context), found, shape, meter);
  return shapeWrittenRows(context, [found], shape, meter).then(([shaped]) => shaped);
}

/**
 * Returns rows that a stream read some time ago. If a related row has been deleted since, all rows
 * are read again. Rows that are gone by then, or that no longer match the query, are left out.
 *
 * @throws {VersionConflictError} if this happens each time.
 * @throws the errors of {@link shapeRows}.
 */
export async function shapeStreamed(
  view: ReadView,
  found: readonly FoundRow[],
  query: AnyQuery,
  meter: ReadMeter,
): Promise<ShapedRow[]> {
  try {
    return await shapeRows(view, found, query, meter);
  } catch (error) {
    if (!(error instanceof VersionConflictError || view.isOutdatedBy(error))) throw error;
    return await view.readAgain(async (current) =>
      shapeRows(current, await rereadRows(current, found, query, meter), query, meter),
    );
  }
}

async function rereadRows(
  view: ReadView,
  found: readonly FoundRow[],
  query: AnyQuery,
  meter: ReadMeter,
): Promise<FoundRow[]> {
  const matches = await createMatcher(view, query, meter);
  const primaryKeys = found.map(({ primaryKey }) => primaryKey);
  meter.add(primaryKeys.length);
  const entries = await readRows(view, primaryKeys);
  const rows: FoundRow[] = [];
  for (const [i, primaryKey] of primaryKeys.entries()) {
    const entry = entries[i];
    const row = entry && foundRow(view, primaryKey, entry);
    if (row !== undefined && (await matches(row, view))) rows.push(row);
  }
  return rows;
}
