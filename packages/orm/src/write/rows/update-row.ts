import type { FoundRow } from "../../context/any-query.js";
import { copyOfData, copyOfGiven } from "../../context/copy-of-data.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { PrimaryKeyChangeError, RowNotFoundError } from "../../errors/row-errors.js";
import { isSamePart, keyPartOf } from "../../indexes/key-parts.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { commitChange } from "../commit/commit-change.js";
import { planChange } from "../commit/plan-change.js";
import { unexpired } from "../commit/row-expiry.js";
import { parsePatch } from "../input/parse-row.js";
import { afterWrite, copyOfRow, hookedData, hooksOf } from "../input/row-hooks.js";
import { assertWriteOptions, expireInOf, type WriteOptions } from "../input/write-options.js";
import { assertVersion, type FindRow } from "./find-row.js";

/**
 * Changes fields of a row and returns it as it is then. Without `expireIn`, a row that expires keeps its time.
 *
 * @param where names the row in the error.
 * @param data fields with their new values, or with operations: see `UpdateInput`.
 * @throws {RowNotFoundError} where there is none.
 * @throws {RowInvalidError} where the schema refuses the changed row.
 * @throws {UniqueConstraintError} where another row has a unique value.
 * @throws {ReferenceMissingError} where it refers to a row that is not there.
 * @throws {PrimaryKeyChangeError} where the data name another primary key.
 * @throws {VersionConflictError} where it has another versionstamp than `ifVersion`.
 * @throws {InvalidArgumentError} for options that are not valid.
 * @throws what a hook throws; after the write, where that is one behind it.
 */
export async function updateRow(
  context: TableContext,
  find: FindRow,
  where: unknown,
  data: AnyRow,
  options: WriteOptions,
  _meter: ReadMeter,
): Promise<FoundRow> {
  const { model, catalog } = context;
  assertWriteOptions(model, options);
  const expireIn = expireInOf(options);
  // What is written is what the caller handed over, whatever becomes of the object meanwhile.
  const patch = copyOfData(model, data);
  if (expireIn !== undefined) await catalog.note("expires");
  const hooks = hooksOf(context);
  let before: AnyRow = {};
  const { change, versionstamp } = await commitChange(context, async (snapshot) => {
    const current = unexpired(context, snapshot, await find());
    const found = current instanceof Promise ? await current : current;
    if (found === undefined) throw new RowNotFoundError(model.name, where);
    assertVersion(model, found, options);
    const { primaryKey } = found;
    before = found.row;
    const changes =
      hooks?.beforeUpdate === undefined
        ? patch
        : await hookedData(copyOfGiven(patch), (own) =>
            hooks.beforeUpdate?.(own, copyOfRow(found.row)),
          );
    const parsed = parsePatch(model, before, changes);
    const row = parsed instanceof Promise ? await parsed : parsed;
    assertSamePrimaryKey(model, before, row);
    return planChange(context, snapshot, { primaryKey, before: found, row, expireIn });
  });
  const row = change.row ?? before;
  if (hooks?.afterUpdate !== undefined) {
    const [rowCopy, beforeCopy] = [copyOfRow(row), copyOfRow(before)];
    await afterWrite(context, () => hooks.afterUpdate?.(rowCopy, beforeCopy));
  }
  return { row, primaryKey: change.primaryKey, versionstamp };
}

function assertSamePrimaryKey(model: CompiledModel, before: AnyRow, after: AnyRow): void {
  for (const field of model.primaryKey) {
    if (isSamePart(keyPartOf(before[field]), keyPartOf(after[field]))) continue;
    throw new PrimaryKeyChangeError(model.name, field);
  }
}
