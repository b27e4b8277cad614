import { isMarked, markedRow, nextMark } from "../../model/options/soft-delete.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { Unreferenced } from "../../state/references/plan-references.js";
import { commitChange } from "../commit/commit-change.js";
import { callAfterHook, callBeforeDelete } from "../input/row-hooks.js";
import { assertWriteOptions, type WriteOptions } from "../input/write-options.js";
import { type FindRow, findToWrite } from "./find-row.js";
import { writeWithHook } from "./write-with-hook.js";

export interface SingleDeletion {
  /** True to skip the `beforeDelete` hook, which has already allowed the deletion. */
  readonly isApproved?: boolean;
  readonly unreferenced?: Unreferenced | undefined;
}

/**
 * Deletes a row without looking for rows that refer to it, and returns it as it was. A row of a
 * model with `softDelete` is marked, and removed only if the context purges and it was marked.
 *
 * @param where the condition to report in errors.
 * @throws {RowNotFoundError} if the row does not exist.
 * @throws {VersionConflictError} if its versionstamp differs from `ifVersion`.
 * @throws the error of a hook. If `afterDelete` throws, the row is already deleted.
 */
export async function deleteSingleRow(
  context: TableContext,
  find: FindRow,
  where: unknown,
  options: WriteOptions,
  { isApproved = false, unreferenced }: SingleDeletion = {},
): Promise<FoundRow> {
  const { model } = context;
  assertWriteOptions(model, options);
  // The row as it was, with the versionstamp that it had.
  let deleted: FoundRow | undefined;
  let isPurged = false;
  const remove = async (within: TableContext): Promise<FoundRow> => {
    await commitChange(within, async (catalog) => {
      const found = await findToWrite(within, catalog, find, where, options);
      isPurged = within.purges === true && isMarked(model, found.row);
      if (!isApproved && !isPurged) await callBeforeDelete(within, found.row);
      deleted = found;
      const { primaryKey } = found;
      const time = within.markedAt ?? nextMark();
      // A stored value that is no row has no fields, so it cannot be marked.
      const isRow = found.stored === undefined || Object.keys(found.stored).length > 0;
      const isMarking = model.softDelete !== undefined && !isPurged && isRow;
      const row = isMarking ? markedRow(model, found.row, time) : null;
      return { primaryKey, before: found, row, unreferenced };
    });
    return deleted!;
  };
  await writeWithHook(context, "duringDelete", remove, ({ row }) => (isPurged ? undefined : [row]));
  if (!isPurged) await callAfterHook(context, "afterDelete", deleted!.row);
  return deleted!;
}
