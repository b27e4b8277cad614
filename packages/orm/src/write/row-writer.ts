import { RowNotFoundError, UniqueConstraintError } from "../errors/row-errors.js";
import type { AnyRow } from "../model/compiled-model.js";
import type { FoundRow } from "../query/any-query.js";
import type { ReadMeter } from "../query/read-meter.js";
import type { TableContext } from "../query/table-context.js";
import { cascadeDelete } from "./cascade-delete.js";
import { copyOfData } from "./copy-of-data.js";
import { deleteSingleRow } from "./delete-single-row.js";
import type { FindRow } from "./find-row.js";
import { insertRow, newRow } from "./insert-row.js";
import { updateRow } from "./update-row.js";
import { assertWriteOptions, type WriteOptions } from "./write-options.js";

export type { FindRow } from "./find-row.js";
export { updateRow };

const maxUpsertAttempts = 100;

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
  return await insertRow(context, row instanceof Promise ? await row : row, options);
}

/**
 * Changes a row, or creates it where there is none; whoever comes between, it ends as one of the two.
 *
 * @param options.ifVersion holds of the row where there is one.
 * @throws {UniqueConstraintError} where another row than that of `find` has its primary key or a unique value.
 * @throws as {@link updateRow} and {@link createRow} do.
 */
export async function upsertRow(
  context: TableContext,
  find: FindRow,
  create: unknown,
  update: AnyRow,
  options: WriteOptions,
  meter: ReadMeter,
): Promise<FoundRow> {
  const { model } = context;
  assertWriteOptions(model, options);
  const patch = Array.isArray(update) ? update : copyOfData(model, update);
  let row: AnyRow | undefined;
  let conflict: UniqueConstraintError | undefined;
  for (let attempt = 1; ; attempt++) {
    const found = await find();
    try {
      if (found !== undefined) {
        return await updateRow(
          context,
          startingWith(found, find),
          undefined,
          patch,
          options,
          meter,
        );
      }
      row ??= await newRow(context, create);
      return await insertRow(context, row, options);
    } catch (error) {
      if (attempt === maxUpsertAttempts) throw error;
      // The row went between the two: it is created then.
      if (error instanceof RowNotFoundError) continue;
      if (found !== undefined || !(error instanceof UniqueConstraintError)) throw error;
      // Another created it meanwhile, which the next look shows. Where it shows none, the value is another row's.
      if (conflict !== undefined && isSameConflict(conflict, error)) throw error;
      conflict = error;
    }
  }
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

/** Finds first what was found already. */
function startingWith(found: FoundRow, find: FindRow): FindRow {
  let isFirst = true;
  return async () => {
    if (!isFirst) return await find();
    isFirst = false;
    return found;
  };
}

function isSameConflict(a: UniqueConstraintError, b: UniqueConstraintError): boolean {
  return a.index === b.index && String(a.ownerId) === String(b.ownerId);
}
