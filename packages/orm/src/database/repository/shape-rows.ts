import type { AnyQuery, FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { ReferenceMissingError, VersionConflictError } from "../../errors/row-errors.js";
import { foundRow } from "../../query/read/found-row.js";
import { readRows } from "../../query/read/read-rows.js";
import { selectFields } from "../../query/read/select-fields.js";
import { loadRelations } from "../../relations/load/load-relations.js";
import type { MissingRow } from "../../relations/load/relation-load.js";
import { rereadTorn } from "../../relations/load/reread-torn.js";
import { matcherOf } from "../../write/many/still-matches.js";

/** A result as the caller asked for it: fields selected, relations loaded, with its versionstamp or without. */
export type Shaped = unknown;

/** What is to be returned of rows. */
type Shape = Pick<AnyQuery, "select" | "include" | "withVersionstamp">;

/** The row itself where nothing else is asked for, else a promise. Throws as {@link shapeRows}. */
export function shapeRow(
  context: TableContext,
  found: FoundRow,
  shape: Shape,
  meter: ReadMeter,
): Shaped | Promise<Shaped> {
  if (isWhole(shape)) return found.row;
  return shapeRows(context, [found], shape, meter).then(([shaped]) => shaped);
}

/**
 * Rows as the caller asked for them.
 *
 * @param missing what becomes of a relation to a row that has to be there and is not.
 * @throws {VersionConflictError} where a row that is included was deleted while this was read.
 * @throws what `loadRelations` throws.
 */
export async function shapeRows(
  context: TableContext,
  found: readonly FoundRow[],
  { include, select, withVersionstamp }: Shape,
  meter: ReadMeter,
  missing: MissingRow = "refused",
): Promise<Shaped[]> {
  const rows = found.map(({ row }) => row);
  const selected = select === undefined ? rows : rows.map((row) => selectFields(row, select));
  const loaded =
    include === undefined
      ? selected
      : await loadRelations(context, rows, selected, include, meter, missing);
  if (!withVersionstamp) return [...loaded];
  return found.map(({ versionstamp }, i) => ({ row: loaded[i], versionstamp }));
}

/** A row that was written: see {@link shapeWrittenRows}. The row itself where nothing else is asked for, else a promise. */
export function shapeWritten(
  context: TableContext,
  found: FoundRow,
  shape: Shape,
  meter: ReadMeter,
): Shaped | Promise<Shaped> {
  if (isWhole(shape)) return found.row;
  return shapeWrittenRows(context, [found], shape, meter).then(([shaped]) => shaped);
}

/**
 * Rows that were written, as they were written, whatever others have done to them since. The write stands: a relation to a
 * row that has gone since is null, and no reason to fail, for who takes the failure for that of the write makes it twice.
 */
export async function shapeWrittenRows(
  context: TableContext,
  found: readonly FoundRow[],
  shape: Shape,
  meter: ReadMeter,
): Promise<Shaped[]> {
  try {
    return await rereadTorn(() => shapeRows(context, found, shape, meter));
  } catch (error) {
    const isGone = error instanceof VersionConflictError || error instanceof ReferenceMissingError;
    if (!isGone) throw error;
    return await shapeRows(context, found, shape, meter, "null");
  }
}

/**
 * Rows that a stream has read some time ago. Where one was deleted while its relations were loaded, all are read again, and
 * those are left out that are gone or no longer what the query asks for.
 *
 * @throws as {@link shapeRows}, where that has happened five times.
 */
export async function shapeStreamed(
  context: TableContext,
  found: readonly FoundRow[],
  query: AnyQuery,
  meter: ReadMeter,
): Promise<Shaped[]> {
  return await rereadTorn(async (attempt) => {
    const rows = attempt === 1 ? found : await rowsNow(context, found, query, meter);
    return await shapeRows(context, rows, query, meter);
  });
}

async function rowsNow(
  context: TableContext,
  found: readonly FoundRow[],
  query: AnyQuery,
  meter: ReadMeter,
): Promise<FoundRow[]> {
  const matches = await matcherOf(context, query);
  const primaryKeys = found.map(({ primaryKey }) => primaryKey);
  meter.add(primaryKeys.length);
  const entries = await readRows(context, primaryKeys);
  const rows: FoundRow[] = [];
  for (const [i, primaryKey] of primaryKeys.entries()) {
    const entry = entries[i];
    const row = entry && foundRow(context, primaryKey, entry);
    if (row !== undefined && matches(row)) rows.push(row);
  }
  return rows;
}

function isWhole({ include, select, withVersionstamp }: Shape): boolean {
  return include === undefined && select === undefined && !withVersionstamp;
}
