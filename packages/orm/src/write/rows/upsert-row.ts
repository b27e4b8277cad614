import type { FoundRow } from "../../context/any-query.js";
import { copyOfData, copyOfInput } from "../../context/copy-of-data.js";
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
import { assertWriteOptions, type WriteOptions } from "../input/write-options.js";
import type { FindRow } from "./find-row.js";
import { afterInsert, insertRow, newRow } from "./insert-row.js";
import { updateRow } from "./update-row.js";

const maxAttempts = 100;

/** A row that was in the way of a new one. */
interface Obstacle {
  readonly index: string;
  readonly primaryKey: FoundRow["primaryKey"];
  /** Of the row right after it was in the way; null where it had gone by then. */
  readonly versionstamp: string | null;
}

/**
 * Changes a row, or creates it where there is none; whoever comes between, it ends as one of the two. Only that the row
 * itself came or went is a reason to begin anew: what a hook throws reaches the caller, whatever it is.
 *
 * @param options.ifVersion holds of the row where there is one.
 * @param assertNew throws for a row that is not to be created.
 * @throws {UniqueConstraintError} where another row than that of `find` has its primary key or a unique value.
 * @throws {VersionConflictError} where the row came and went in each of a hundred attempts.
 * @throws as `updateRow` and `createRow` do.
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
  // What is written is what the caller handed over, whatever becomes of the objects meanwhile.
  const patch = copyOfData(model, update);
  const data = copyOfInput(model, create);
  // Names the row in the error that says it has gone. A hook's error about another row has something else there.
  const ownRow = {};
  let row: AnyRow | undefined;
  let obstacle: Obstacle | undefined;
  for (let attempt = 1; ; attempt++) {
    const found = await unexpired(context, context.catalog.snapshot, await find());
    let inTheWay: FoundRow["primaryKey"];
    if (found !== undefined) {
      try {
        const first = startingWith(found, find);
        return await updateRow(context, first, ownRow, patch, options, meter);
      } catch (error) {
        if (!(error instanceof RowNotFoundError && error.where === ownRow)) throw error;
      }
      inTheWay = found.primaryKey;
    } else {
      if (row === undefined) {
        const created = await newRow(context, data);
        assertNew(created);
        row = created;
      }
      const created = await insertOrMeet(context, row, options);
      if (!(created instanceof UniqueConstraintError)) {
        await afterInsert(context, created);
        return created;
      }
      const met = await obstacleOf(context, created);
      if (obstacle !== undefined && staysInTheWay(obstacle, met, meter.index)) throw created;
      obstacle = met;
      inTheWay = met.primaryKey;
    }
    if (attempt === maxAttempts) {
      throw new VersionConflictError(model.name, pointerOf(inTheWay), attempt);
    }
    await pauseBeforeAttempt(attempt + 1);
  }
}

/** Stores a new row, or returns the error that says which row is in its way. */
async function insertOrMeet(
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

async function obstacleOf(
  { kv, model }: TableContext,
  { index, ownerId }: UniqueConstraintError,
): Promise<Obstacle> {
  const primaryKey = primaryKeyOfPointer(model, ownerId) ?? [];
  const { versionstamp } = await kv.get(rowKey(model, primaryKey));
  return { index, primaryKey, versionstamp };
}

/**
 * Whether a row that is in the way for the second time will be there at the next attempt, too.
 *
 * @param foundBy the index by which the row was looked for.
 */
function staysInTheWay(before: Obstacle, now: Obstacle, foundBy: string | undefined): boolean {
  if (before.index !== now.index || !isSameKey(before.primaryKey, now.primaryKey)) return false;
  // The value is that of another row, which has nothing to do with the one that was looked for.
  if (now.index !== "primaryKey" && now.index !== foundBy) return true;
  // It may be the row that was looked for, which comes and goes; not where it was there all the time.
  return now.versionstamp !== null && now.versionstamp === before.versionstamp;
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
