import { isMarked, unmarkedRow } from "../../model/options/soft-delete.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { TableContext } from "../../state/context/table-context.js";
import { commitChange } from "../commit/commit-change.js";
import { assertWriteOptions, type WriteOptions } from "../input/write-options.js";
import { type FindRow, findToWrite } from "../rows/find-row.js";

/**
 * Clears the mark of a deleted row and returns the row. Its unique values and its references are
 * checked like those of a new row. A row that is not marked is returned as it is. No hook is
 * called.
 *
 * @param context reads rows that are marked as deleted.
 * @param where the condition to report in errors.
 * @throws {RowNotFoundError} if the row does not exist, or was purged.
 * @throws {UniqueConstraintError} if another row has taken one of its unique values.
 * @throws {ReferenceMissingError} if it refers to a row that does not exist or is deleted.
 * @throws {VersionConflictError} if its versionstamp differs from `ifVersion`.
 */
export async function restoreRow(
  context: TableContext,
  find: FindRow,
  where: unknown,
  options: WriteOptions,
): Promise<FoundRow> {
  const { model } = context;
  assertWriteOptions(model, options);
  return await commitChange(context, async (catalog) => {
    const found = await findToWrite(context, catalog, find, where, options);
    const { primaryKey, row } = found;
    const renewsReferences = isMarked(model, row);
    const restored = renewsReferences ? unmarkedRow(model, row) : row;
    return { primaryKey, before: found, row: restored, renewsReferences };
  });
}
