import type { KvKeyPart } from "@keywright/core";
import { TransactionConflictError } from "../../errors/transaction-errors.js";
import { findByPrimaryKey } from "../../read/find/find-unique.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import { viewOf } from "../../state/context/read-view.js";
import { type TableContext, tablesWithin } from "../../state/context/table-context.js";
import { type AfterCommit, runAfterCommit } from "../../state/transaction/after-commit.js";
import { isLimitError } from "../../state/transaction/limit-error-of.js";
import { runTransaction } from "../../state/transaction/run-transaction.js";
import type { TransactionKv } from "../../state/transaction/transaction-kv.js";
import { isHookError } from "../input/row-hooks.js";
import { deleteSingleRow } from "../rows/delete-single-row.js";
import { CascadeBudget, maxRowsPerCommit } from "./cascade-budget.js";
import { type CascadeFrame, createFrame } from "./cascade-frame.js";
import { walkCascade } from "./cascade-walk.js";
import { writeUnlessGone } from "./write-unless-gone.js";

const maxAttemptsOfOneRow = 100;
/** After these attempts, a smaller step is tried. */
const maxAttemptsOfManyRows = 8;

/**
 * Deletes a row whose job is recorded, and the rows that refer to it, in steps of one commit each.
 * A step is repeated with fewer rows if the database refuses it as too large, or if other writes
 * keep conflicting with it.
 *
 * @returns the row as it was; undefined if it no longer exists.
 * @throws {RowReferencedError} if a relation forbids the deletion of one of the rows.
 * @throws the error of a hook. That of an `after` hook is thrown when everything is deleted.
 */
export async function deleteInSteps(
  { kv, model, limits, tables }: TableContext,
  primaryKey: readonly KvKeyPart[],
  meter: ReadMeter,
): Promise<FoundRow | undefined> {
  const deleteRoot = async (context: TableContext) => {
    const find = () => findByPrimaryKey(viewOf(context), primaryKey, meter, true);
    // The `beforeDelete` hook of the row has allowed this before the job was recorded.
    return await writeUnlessGone(model, primaryKey, (where) =>
      deleteSingleRow(context, find, where, {}, { isApproved: true }),
    );
  };
  let stack: readonly CascadeFrame[] = [createFrame(model, primaryKey)];
  let deletedRoot: FoundRow | undefined;
  const hookErrors: unknown[] = [];
  // A conflict reduces maxRows for a while. A step that is too large also reduces rowLimit.
  let rowLimit = maxRowsPerCommit;
  let maxRows = maxRowsPerCommit;
  while (stack.length > 0) {
    const size = maxRows;
    const start = stack;
    let budget = new CascadeBudget(limits, size);
    let afterHooks: AfterCommit[] = [];
    const walk = async (transaction: TransactionKv) => {
      // The hooks are collected, so that an error of a hook does not look like one of the step.
      afterHooks = [];
      transaction.afterCommit = (run) => void afterHooks.push(run);
      budget = new CascadeBudget(limits, size);
      return await walkCascade(start, {
        tables: { writes: tablesWithin(tables, transaction), reads: tables, lists: tables },
        budget,
        meter,
        maxDepth: Number.POSITIVE_INFINITY,
        deleteRoot,
      });
    };
    const maxAttempts = size > 1 ? maxAttemptsOfManyRows : maxAttemptsOfOneRow;
    try {
      const step = await runTransaction(kv, walk, { maxAttempts });
      ({ stack } = step);
      deletedRoot ??= step.deletedRoot;
      maxRows = Math.min(2 * maxRows, rowLimit);
    } catch (error) {
      if (isHookError(error)) throw error;
      const isTooLarge = isLimitError(error);
      if (maxRows === 1 || !(isTooLarge || error instanceof TransactionConflictError)) throw error;
      maxRows = Math.max(1, Math.ceil(Math.min(maxRows, budget.rows) / 2));
      if (isTooLarge) rowLimit = maxRows;
      continue;
    }
    // All hooks are called even if one throws, because their rows are written.
    try {
      await runAfterCommit(afterHooks, null);
    } catch (error) {
      hookErrors.push(error);
    }
  }
  if (hookErrors.length > 0) throw hookErrors[0];
  return deletedRoot;
}
