import type { FoundRow } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import { assertWriteOptions, type WriteOptions } from "../input/write-options.js";
import { afterInsert, insertRow, newRow } from "./insert-row.js";

/**
 * Creates a row and returns it.
 *
 * @throws {RowInvalidError} if the schema rejects the data.
 * @throws {UniqueConstraintError} if another row has the same primary key or unique value.
 * @throws {ReferenceMissingError} if the row refers to a row that does not exist.
 * @throws {InvalidArgumentError} if the options are not valid.
 * @throws the error of a hook. If `afterCreate` throws, the row is already written.
 */
export async function createRow(
  context: TableContext,
  data: unknown,
  options: WriteOptions,
): Promise<FoundRow> {
  assertWriteOptions(context.model, options);
  const row = newRow(context, data);
  const created = await insertRow(context, row instanceof Promise ? await row : row, options);
  const hookCall = afterInsert(context, created);
  if (hookCall !== undefined) await hookCall;
  return created;
}
