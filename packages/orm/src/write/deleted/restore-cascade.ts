import type { KvKeyPart } from "@keywright/core";
import { RowNotFoundError } from "../../errors/row-errors.js";
import { markOf } from "../../model/options/soft-delete.js";
import { currentTime } from "../../model/rows/time.js";
import { findByPrimaryKey } from "../../read/find/find-unique.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { ReadMeter } from "../../state/context/read-meter.js";
import { viewOf } from "../../state/context/read-view.js";
import type { RestoredRows, TableContext } from "../../state/context/table-context.js";
import { assertReferrerInScope } from "../../state/references/find-restriction.js";
import { restoreJobKey } from "../../state/references/guard-keys.js";
import { rowIdOf } from "../../state/references/referenced-key.js";
import { tableOfModel } from "../../state/references/referrers.js";
import { setUntil } from "../../state/transaction/buffer/set-until.js";
import { isLimitError } from "../../state/transaction/limit-error-of.js";
import { maxRowsPerCommit } from "../cascade/cascade-budget.js";
import { writeUnlessGone } from "../cascade/write-unless-gone.js";
import type { WriteOptions } from "../input/write-options.js";
import type { FindRow } from "../rows/find-row.js";
import { runAtomically, writeRowAtomically } from "../rows/run-atomically.js";
import { type MarkedRow, markedTogether } from "./marked-together.js";
import { withDeletedRows } from "./purging-context.js";
import { restoreRow } from "./restore-row.js";

/** A restoration of a row with the rows that its deletion has marked. */
interface Restoration {
  readonly context: TableContext;
  readonly find: FindRow;
  readonly where: unknown;
  readonly options: WriteOptions;
  readonly root: FoundRow;
  /** The time of the marks. */
  readonly time: Date;
  /** The other rows, each after those to which it refers. */
  readonly rows: readonly MarkedRow[];
  /** All of them. */
  readonly restored: RestoredRows;
}

/**
 * Restores a row as {@link restoreRow}, and exactly the rows that its deletion has marked with it.
 * A row that was deleted before stays deleted.
 *
 * One commit does all of it if it fits, otherwise several: first the row itself, then the rows that
 * refer to it. A call that was interrupted has left a record of the time, and the next one restores
 * the rest. Within a transaction of the caller, all of it is part of that transaction.
 *
 * @param find finds the row with this context, also if it is marked.
 * @throws the errors of {@link restoreRow}, for any of the rows. Nothing is written, or with
 * several commits, the rows of the failed commit and those after it stay deleted.
 */
export async function restoreCascade(
  context: TableContext,
  find: FindRow,
  where: unknown,
  options: WriteOptions,
): Promise<FoundRow> {
  const root = await find(withDeletedRows(context));
  if (root === undefined) throw new RowNotFoundError(context.model.name, where);
  const mark = markOf(context.model, root.row);
  const time = mark ?? (await readRestoreTime(context, root));
  if (time === undefined) return await restoreRow(withDeletedRows(context), find, where, options);
  const rows = await markedTogether(context, root.primaryKey, time, mark === undefined);
  const all = [{ context, primaryKey: root.primaryKey }, ...rows];
  const ids = new Set(all.map((row) => rowIdOf(row.context.model, row.primaryKey)));
  const restoration = { context, find, where, options, root, time, rows, restored: { ids, time } };
  if (context.transaction !== undefined || rows.length < maxRowsPerCommit) {
    try {
      return await writeRowAtomically(context, (within) => restoreAtOnce(restoration, within));
    } catch (error) {
      if (context.transaction !== undefined || !isLimitError(error)) throw error;
    }
  }
  return await restoreInSteps(restoration);
}

async function readRestoreTime(
  { kv, model }: TableContext,
  { primaryKey }: FoundRow,
): Promise<Date | undefined> {
  const { value } = await kv.get(restoreJobKey(model, primaryKey));
  return value instanceof Date ? value : undefined;
}

async function restoreAtOnce(restoration: Restoration, within: TableContext): Promise<FoundRow> {
  const restored = await restoreRoot(restoration, within);
  await restoreRows(restoration, restoration.rows, within);
  await within.kv.delete(restoreJobKey(within.model, restored.primaryKey));
  return restored;
}

async function restoreInSteps(restoration: Restoration): Promise<FoundRow> {
  const { context, root, time, rows } = restoration;
  const jobKey = restoreJobKey(context.model, root.primaryKey);
  const restored = await writeRowAtomically(context, async (within) => {
    // The record expires with the row, because a later row with the same key is another one.
    const { expireAt } = root;
    const expiry = expireAt === undefined ? {} : setUntil(expireAt, currentTime());
    await within.kv.set(jobKey, time, expiry);
    return await restoreRoot(restoration, within);
  });
  let size = maxRowsPerCommit;
  for (let from = 0; from < rows.length; ) {
    const step = rows.slice(from, from + size);
    try {
      await runAtomically(context, (within) => restoreRows(restoration, step, within));
      from += step.length;
    } catch (error) {
      if (step.length === 1 || !isLimitError(error)) throw error;
      size = Math.ceil(step.length / 2);
    }
  }
  await context.kv.delete(jobKey);
  return restored;
}

async function restoreRoot(
  { find, where, options, restored }: Restoration,
  within: TableContext,
): Promise<FoundRow> {
  const withDeleted = { ...withDeletedRows(within), restored };
  return await restoreRow(withDeleted, () => find(withDeleted), where, options);
}

/** Restores those of the rows that still have the mark of the deletion. */
async function restoreRows(
  { time, restored }: Restoration,
  rows: readonly MarkedRow[],
  within: TableContext,
): Promise<void> {
  for (const { context, primaryKey } of rows) {
    const table = { ...withDeletedRows(tableOfModel(within.tables, context.model)), restored };
    await writeUnlessGone(table.model, primaryKey, (where) =>
      restoreRow(table, () => findMarked(table, primaryKey, time), where, {}),
    );
  }
}

async function findMarked(
  table: TableContext,
  primaryKey: readonly KvKeyPart[],
  time: Date,
): Promise<FoundRow | undefined> {
  const meter = new ReadMeter(table.model.name, Number.POSITIVE_INFINITY);
  const view = viewOf({ ...table, scope: undefined });
  const found = await findByPrimaryKey(view, primaryKey, meter);
  const isMarked = found && markOf(table.model, found.row)?.getTime() === time.getTime();
  if (!isMarked) return undefined;
  assertReferrerInScope(table, found.row);
  return found;
}
