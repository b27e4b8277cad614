import type { FoundRow } from "../query/any-query.js";
import type { ReadMeter } from "../query/read-meter.js";
import type { TableContext } from "../query/table-context.js";
import { cascadeDelete } from "./cascade-delete.js";
import { deleteSingleRow } from "./delete-single-row.js";
import type { FindRow } from "./find-row.js";
import { afterInsert, insertRow, newRow } from "./insert-row.js";
import { assertWriteOptions, type WriteOptions } from "./write-options.js";

export type { FindRow } from "./find-row.js";
export { updateRow } from "./update-row.js";
export { upsertRow } from "./upsert-row.js";

/**
 * Creates a row and returns it.
 *
 * @throws {RowInvalidError} where the schema refuses the data.
 * @throws {UniqueConstraintError} where another row has its primary key or a unique value.
 * @throws {ReferenceMissingError} where it refers to a row that is not there.
 * @throws {InvalidArgumentError} for options that are not valid.
 * @throws what a hook throws; after the write, where that is one behind it.
 */
export async function createRow(
  context: TableContext,
  data: unknown,
  options: WriteOptions,
  _meter: ReadMeter,
): Promise<FoundRow> {
  assertWriteOptions(context.model, options);
  const row = newRow(context, data);
  const created = await insertRow(context, row instanceof Promise ? await row : row, options);
  const hook = afterInsert(context, created);
  if (hook !== undefined) await hook;
  return created;
}

/**
 * Removes a row, does with those that refer to it what their relations say, and returns it as it was.
 *
 * @param where names the row in the error.
 * @throws {RowNotFoundError} where there is none.
 * @throws {RowReferencedError} where a row that refers to it keeps it from being deleted.
 * @throws {VersionConflictError} where it has another versionstamp than `ifVersion`.
 * @throws {InvalidArgumentError} for options that are not valid.
 * @throws what a hook throws; after the write, where that is one behind it.
 */
export async function deleteRow(
  context: TableContext,
  find: FindRow,
  where: unknown,
  options: WriteOptions,
  meter: ReadMeter,
): Promise<FoundRow> {
  const remove = context.links.referencedBy.length > 0 ? cascadeDelete : deleteSingleRow;
  return await remove(context, find, where, options, meter);
}
