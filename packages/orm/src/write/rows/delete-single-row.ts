import type { FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { RowNotFoundError } from "../../errors/row-errors.js";
import { commitChange } from "../commit/commit-change.js";
import { planChange } from "../commit/plan-change.js";
import { unexpired } from "../commit/row-expiry.js";
import { afterWrite, askBeforeDelete, copyOfRow, hooksOf } from "../input/row-hooks.js";
import { assertWriteOptions, type WriteOptions } from "../input/write-options.js";
import { assertVersion, type FindRow } from "./find-row.js";

/**
 * Removes a row, whoever refers to it, and returns it as it was.
 *
 * @param where names the row in the error.
 * @throws {RowNotFoundError} where there is none.
 * @throws {VersionConflictError} where it has another versionstamp than `ifVersion`.
 * @throws what a hook throws; after the write, where that is one behind it.
 */
export async function deleteSingleRow(
  context: TableContext,
  find: FindRow,
  where: unknown,
  options: WriteOptions,
  _meter: ReadMeter,
): Promise<FoundRow> {
  const { model } = context;
  assertWriteOptions(model, options);
  const hooks = hooksOf(context);
  let deleted: FoundRow | undefined;
  await commitChange(context, async (catalog) => {
    const current = unexpired(context, catalog, await find());
    const found = current instanceof Promise ? await current : current;
    if (found === undefined) throw new RowNotFoundError(model.name, where);
    assertVersion(model, found, options);
    if (hooks?.beforeDelete !== undefined) await askBeforeDelete(context, found.row);
    deleted = found;
    const { primaryKey } = found;
    return planChange(context, catalog, {
      primaryKey,
      before: found,
      row: null,
      expireIn: undefined,
    });
  });
  if (deleted === undefined) throw new RowNotFoundError(model.name, where);
  const { row } = deleted;
  if (hooks?.afterDelete !== undefined) {
    const copy = copyOfRow(row);
    await afterWrite(context, () => hooks.afterDelete?.(copy));
  }
  return deleted;
}
