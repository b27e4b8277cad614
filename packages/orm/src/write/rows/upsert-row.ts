import type { FoundRow } from "../../context/any-query.js";
import { copyData, copyInput } from "../../context/copy-of-data.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import {
  RowNotFoundError,
  UniqueConstraintError,
  VersionConflictError,
} from "../../errors/row-errors.js";
import { isSameKey } from "../../indexes/key-parts.js";
import { pointerOf, primaryKeyOfPointer, rowKey } from "../../indexes/primary-key.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { pauseBeforeAttempt } from "../../transaction/pause.js";
import { unexpired } from "../commit/row-expiry.js";
import { callAfterHook } from "../input/row-hooks.js";
import { assertWriteOptions, type WriteOptions } from "../input/write-options.js";
import { insertRow, newRow } from "./create-row.js";
import type { FindRow } from "./find-row.js";
import { updateRow } from "./update-row.js";

const maxAttempts = 100;

/** An existing row that has prevented the creation of a new one. */
interface ConflictingRow {
  /** The name of the violated unique index, or `primaryKey`. */
  readonly index: string;
  readonly primaryKey: FoundRow["primaryKey"];
  /** Read right after the conflict; null if the row was gone by then. */
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
  for (let attempt = 1; ; attempt++) {
    const found = await unexpired(context, context.catalog.snapshot, await find());
    let conflictingKey: FoundRow["primaryKey"];
    if (found !== undefined) {
      try {
        const first = startingWith(found, find);
        return await updateRow(context, first, rowToken, patch, options);
      } catch (error) {
        if (!(error instanceof RowNotFoundError && error.where === rowToken)) throw error;
      }
      conflictingKey = found.primaryKey;
    } else {
      if (row === undefined) {
        const created = await newRow(context, data);
        assertNew(created);
        row = created;
      }
      const created = await tryInsert(context, row, options);
      if (!(created instanceof UniqueConstraintError)) {
        await callAfterHook(context, "afterCreate", created.row);
        return created;
      }
      const current = await readConflictingRow(context, created);
      if (previous !== undefined && isPermanent(previous, current, meter.index)) throw created;
      previous = current;
      conflictingKey = current.primaryKey;
    }
    if (attempt === maxAttempts) {
      throw new VersionConflictError(model.name, pointerOf(conflictingKey), attempt);
    }
    await pauseBeforeAttempt(attempt + 1);
  }
}

/** Stores a new row, or returns the error that names the conflicting row. */
async function tryInsert(
  context: TableContext,
  row: AnyRow,
  options: WriteOptions,
): Promise<FoundRow | UniqueConstraintError> {
  try {
    return await insertRow(context, row, options);
  } catch (error) {
    if (error instanceof UniqueConstraintError) return error;
    throw error;
  }
}

async function readConflictingRow(
  { kv, model }: TableContext,
  { index, ownerId }: UniqueConstraintError,
): Promise<ConflictingRow> {
  const primaryKey = primaryKeyOfPointer(model, ownerId) ?? [];
  const { versionstamp } = await kv.get(rowKey(model, primaryKey));
  return { index, primaryKey, versionstamp };
}

/**
 * True if a row that has prevented the creation twice will also prevent the next attempt.
 *
 * @param foundBy the name of the index that `find` reads.
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

/** Returns a `FindRow` whose first call returns a row that has been read already. */
function startingWith(found: FoundRow, find: FindRow): FindRow {
  let isFirst = true;
  return async () => {
    if (!isFirst) return await find();
    isFirst = false;
    return found;
  };
}
