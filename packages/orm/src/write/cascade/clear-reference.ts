import type { FoundRow } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import { isMarked } from "../../model/options/soft-delete.js";
import { commitChange } from "../commit/commit-change.js";
import { planChange } from "../commit/plan-change.js";
import { parsePatch } from "../input/parse-row.js";
import { type FindRow, findToWrite } from "../rows/find-row.js";
import { updateRow } from "../rows/update-row.js";
import { clearedReference } from "./cleared-reference.js";

/**
 * Clears a reference of a row, and returns the row. The write is an update, with its hooks. A row
 * that is marked as deleted is changed without hooks, and keeps its mark and its times.
 *
 * @param context reads rows that are marked as deleted.
 */
export async function clearReference(
  context: TableContext,
  find: FindRow,
  where: object,
  fields: readonly string[],
): Promise<FoundRow> {
  const { model } = context;
  const patch = clearedReference(model, fields);
  const first = model.softDelete === undefined ? undefined : await find();
  if (first === undefined || !isMarked(model, first.row)) {
    return await updateRow(context, find, where, patch, {});
  }
  const { change, versionstamp } = await commitChange(context, async (catalog) => {
    const found = await findToWrite(context, catalog, find, where);
    const row = await parsePatch(model, found.row, patch);
    return planChange(context, catalog, { primaryKey: found.primaryKey, before: found, row });
  });
  return { row: change.row!, primaryKey: change.primaryKey, versionstamp };
}
