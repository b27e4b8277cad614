import type { FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import type { WriteOptions } from "../input/write-options.js";
import { deleteSingleRow } from "../rows/delete-single-row.js";
import type { FindRow } from "../rows/find-row.js";
import { cascadeDelete } from "./cascade-delete.js";

/**
 * Deletes a row and returns it as it was. Rows that refer to it are deleted or changed as their
 * relations require.
 *
 * @param where the condition to report in errors.
 * @throws {RowNotFoundError} if there is no such row.
 * @throws {RowReferencedError} if a row refers to it by a relation with `onDelete: "restrict"`.
 * @throws {VersionConflictError} if its versionstamp is not `ifVersion`.
 * @throws {InvalidArgumentError} if the options are not valid.
 * @throws the error of a hook. If `afterDelete` throws, the row is already deleted.
 */
export async function deleteRow(
  context: TableContext,
  find: FindRow,
  where: unknown,
  options: WriteOptions,
  meter: ReadMeter,
): Promise<FoundRow> {
  return context.links.referencedBy.length > 0
    ? await cascadeDelete(context, find, where, options, meter)
    : await deleteSingleRow(context, find, where, options);
}
