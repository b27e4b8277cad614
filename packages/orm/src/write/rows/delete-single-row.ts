import type { FoundRow } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import { RowNotFoundError } from "../../errors/row-errors.js";
import { commitChange } from "../commit/commit-change.js";
import { planChange } from "../commit/plan-change.js";
import { callAfterHook, callBeforeDelete } from "../input/row-hooks.js";
import { assertWriteOptions, type WriteOptions } from "../input/write-options.js";
import { type FindRow, findToWrite } from "./find-row.js";
import { writeWithHook } from "./write-with-hook.js";

/**
 * Deletes a row without looking for rows that refer to it, and returns it as it was.
 *
 * @param where the condition to report in errors.
 * @param isApproved true to skip the `beforeDelete` hook, which has already allowed the deletion.
 * @throws {RowNotFoundError} if the row does not exist.
 * @throws {VersionConflictError} if its versionstamp differs from `ifVersion`.
 * @throws the error of a hook. If `afterDelete` throws, the row is already deleted.
 */
export async function deleteSingleRow(
  context: TableContext,
  find: FindRow,
  where: unknown,
  options: WriteOptions,
  isApproved = false,
): Promise<FoundRow> {
  const { model } = context;
  assertWriteOptions(model, options);
  const remove = async (within: TableContext): Promise<FoundRow> => {
    let found: FoundRow | undefined;
    await commitChange(within, async (catalog) => {
      found = await findToWrite(within, catalog, find, where, options);
      if (!isApproved) await callBeforeDelete(within, found.row);
      const { primaryKey } = found;
      return planChange(within, catalog, { primaryKey, before: found, row: null });
    });
    if (found === undefined) throw new RowNotFoundError(model.name, where);
    return found;
  };
  let deleted: FoundRow | undefined;
  const keepStamp = async (within: TableContext) => (deleted = await remove(within));
  await writeWithHook(context, "duringDelete", keepStamp, ({ row }) => [row]);
  // The row as it was, with the versionstamp that it had.
  if (deleted === undefined) throw new RowNotFoundError(model.name, where);
  await callAfterHook(context, "afterDelete", deleted.row);
  return deleted;
}
