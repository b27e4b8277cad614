import { unexpired } from "../../derived/expiry/row-expiry.js";
import {
  RowNotFoundError,
  UniqueConstraintError,
  VersionConflictError,
} from "../../errors/row-errors.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import { pointerOf, primaryKeyOfPointer, rowKey } from "../../model/keys/primary-key.js";
import { copyData, copyInput } from "../../model/rows/copy-of-data.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { FailedAttempt, retry } from "../../state/transaction/retry.js";
import { callAfterHook, isHookError } from "../input/row-hooks.js";
import { assertWriteOptions, type WriteOptions } from "../input/write-options.js";
import { newRow, writeNewRow } from "./create-row.js";
import type { FindRow } from "./find-row.js";
import { updateRow } from "./update-row.js";

const maxAttempts = 100;

/** An existing row that has prevented the creation of a new one. */
interface ConflictingRow {
  /** The name of the violated unique index, or `primaryKey`. */
  readonly index: string;
  readonly primaryKey: FoundRow["primaryKey"];
  /** Read after the conflict; null if the row was gone by then. */
  readonly versionstamp: string | null;
}

/**
 * Updates a row, or creates it if it does not exist. If the row is created or deleted by others in
 * the meantime, the other operation is tried. This is the only reason for a retry: errors of hooks
 * are thrown to the caller, whatever their class is.
 *
 * @param options.ifVersion applies only if the row exists.
 * @param assertNew throws if the row must not be created.
 * @throws {UniqueConstraintError} if another row than that of `find` has the same primary key or
 * unique value.
 * @throws {VersionConflictError} if the row appeared or disappeared in each of a hundred attempts.
 * @throws the errors of `updateRow` and `createRow`.
 */
export async function upsertRow(
  context: TableContext,
  find: FindRow,
  create: unknown,
  update: AnyRow,
  options: WriteOptions,
  meter: ReadMeter,
  assertNew: (row: AnyRow) => void = () => {},
): Promise<FoundRow> {
  const { model } = context;
  assertWriteOptions(model, options);
  // The caller may change its objects before the commit.
  const patch = copyData(model, update);
  const data = copyInput(model, create);
  // Identifies the error of this update. A `RowNotFoundError` from a hook has another `where`.
  const rowToken = {};
  let row: AnyRow | undefined;
  let previous: ConflictingRow | undefined;
  const writeOnce = async (): Promise<FoundRow | FailedAttempt> => {
    const found = await unexpired(viewOf(context), await find());
    let conflictingKey = found?.primaryKey ?? [];
    if (found !== undefined) {
      try {
        let first: FoundRow | undefined = found;
        const findNext = async (within?: TableContext) => {
          const next = first ?? (await find(within));
          first = undefined;
          return next;
        };
        return await updateRow(context, findNext, rowToken, patch, options);
      } catch (error) {
        if (!(error instanceof RowNotFoundError && error.where === rowToken)) throw error;
      }
    } else {
      if (row === undefined) {
        const created = await newRow(context, data);
        assertNew(created);
        row = created;
      }
      let created: FoundRow | undefined;
      try {
        created = await writeNewRow(context, row, options);
      } catch (error) {
        if (!(error instanceof UniqueConstraintError) || isHookError(error)) throw error;
        const { index, ownerId } = error;
        conflictingKey = primaryKeyOfPointer(model, ownerId) ?? [];
        const { versionstamp } = await context.kv.get(rowKey(model, conflictingKey));
        const current = { index, primaryKey: conflictingKey, versionstamp };
        if (previous !== undefined && isPermanent(previous, current, meter.index)) throw error;
        previous = current;
      }
      if (created !== undefined) {
        await callAfterHook(context, "afterCreate", created.row);
        return created;
      }
    }
    return new FailedAttempt((attempts) => {
      return new VersionConflictError(model.name, pointerOf(conflictingKey), attempts);
    });
  };
  return await retry(writeOnce, { maxAttempts, pauses: "short" });
}

/**
 * True if a row that has prevented the creation twice will also prevent the next attempt. `foundBy`
 * is the name of the index that `find` reads.
 */
function isPermanent(
  before: ConflictingRow,
  now: ConflictingRow,
  foundBy: string | undefined,
): boolean {
  if (before.index !== now.index || !isSameKey(before.primaryKey, now.primaryKey)) return false;
  // The unique value belongs to a row that `find` does not look for.
  if (now.index !== "primaryKey" && now.index !== foundBy) return true;
  // It may be the row that `find` looks for, if others delete and create it again and again. If its
  // versionstamp is the same, it has existed all the time, and `find` does not find it.
  return now.versionstamp !== null && now.versionstamp === before.versionstamp;
}
