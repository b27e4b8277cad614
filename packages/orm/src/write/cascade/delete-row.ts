import type { FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import type { WriteOptions } from "../input/write-options.js";
import { deleteSingleRow } from "../rows/delete-single-row.js";
import type { FindRow } from "../rows/find-row.js";
import { cascadeDelete } from "./cascade-delete.js";

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
