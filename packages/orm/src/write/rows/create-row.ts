import type { FoundRow } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import { assertWriteOptions, type WriteOptions } from "../input/write-options.js";
import { afterInsert, insertRow, newRow } from "./insert-row.js";

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
): Promise<FoundRow> {
  assertWriteOptions(context.model, options);
  const row = newRow(context, data);
  const created = await insertRow(context, row instanceof Promise ? await row : row, options);
  const hook = afterInsert(context, created);
  if (hook !== undefined) await hook;
  return created;
}
