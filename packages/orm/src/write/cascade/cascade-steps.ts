import type { KvKeyPart } from "@keywright/core";
import type { FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import { type TableContext, tablesWithin } from "../../context/table-context.js";
import { TransactionConflictError } from "../../errors/transaction-errors.js";
import type { AfterCommit } from "../../transaction/after-commit.js";
import { isLimitError } from "../../transaction/limit-error-of.js";
import { runTransaction } from "../../transaction/run-transaction.js";
import { isHookError } from "../input/hook-errors.js";
import { CascadeBudget } from "./cascade-budget.js";
import {
  type CascadeFrame,
  type CascadeProgress,
  createStack,
  walkCascade,
} from "./cascade-walk.js";

/** The maximum number of rows that one commit deletes or changes. */
export const maxRowsPerCommit = 1000;

/** The maximum number of attempts for a step of one row. */
const maxAttempts = 100;

/** The maximum number of attempts for a larger step. Then a smaller one is tried. */
const maxAttemptsOfManyRows = 8;

/** The size of a step, in rows. */
interface StepSize {
  readonly maxRows: number;
  /** The number of rows in the last attempt. */
  triedRows: number;
}

/** The first error that an `after` hook of a step threw. Any value can be thrown. */
interface HookFailure {
  readonly error: unknown;
}

/**
 * Deletes a row whose job is recorded, and the rows that refer to it, in steps of one commit each.
 * A step is repeated with fewer rows if the database refuses it as too large, or if other writes
 * keep conflicting with it.
 *
 * @returns the row as it was; undefined if it no longer exists.
 * @throws {RowReferencedError} if a relation forbids the deletion of one of the rows.
 * @throws the error of a hook: of a hook before a write at once; of the first hook that threw after
 * a write, when everything is deleted.
 */
export async function deleteInSteps(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
  meter: ReadMeter,
): Promise<FoundRow | undefined> {
  let stack: readonly CascadeFrame[] = createStack(context.model, primaryKey);
  let deletedRoot: FoundRow | undefined;
  let hookFailure: HookFailure | undefined;
  // A conflict reduces maxRows for a while. A step that is too large also reduces rowLimit.
  let rowLimit = maxRowsPerCommit;
  let maxRows = maxRowsPerCommit;
  while (stack.length > 0) {
    const size: StepSize = { maxRows, triedRows: 0 };
    try {
      const step = await commitStep(context, stack, size, meter);
      ({ stack } = step);
      deletedRoot ??= step.deletedRoot;
      hookFailure ??= step.hookFailure;
      maxRows = Math.min(2 * maxRows, rowLimit);
    } catch (error) {
      if (isHookError(error)) throw error;
      const isTooLarge = isLimitError(error);
      if (maxRows === 1 || !(isTooLarge || error instanceof TransactionConflictError)) throw error;
      maxRows = Math.max(1, Math.ceil(Math.min(maxRows, size.triedRows) / 2));
      if (isTooLarge) rowLimit = maxRows;
    }
  }
  if (hookFailure !== undefined) throw hookFailure.error;
  return deletedRoot;
}

/**
 * Commits one step and then calls its `after` hooks. All of them are called even if one throws,
 * because their rows are written.
 */
async function commitStep(
  { kv, limits, tables }: TableContext,
  stack: readonly CascadeFrame[],
  size: StepSize,
  meter: ReadMeter,
): Promise<CascadeProgress & { readonly hookFailure: HookFailure | undefined }> {
  let afterHooks: AfterCommit[] = [];
  const attempts = size.maxRows > 1 ? maxAttemptsOfManyRows : maxAttempts;
  const progress = await runTransaction(
    kv,
    async (transaction) => {
      // The hooks are collected, so that an error of a hook does not look like one of the step.
      afterHooks = [];
      transaction.afterCommit = (run) => {
        afterHooks.push(run);
      };
      const budget = new CascadeBudget(limits, size.maxRows);
      const writes = tablesWithin(tables, transaction);
      try {
        return await walkCascade(stack, {
          tables: { writes, reads: tables, lists: tables },
          budget,
          meter,
          maxDepth: Number.POSITIVE_INFINITY,
          isRootApproved: true,
        });
      } finally {
        size.triedRows = budget.rows;
      }
    },
    { maxAttempts: attempts },
  );
  let hookFailure: HookFailure | undefined;
  for (const run of afterHooks) {
    try {
      await run(null);
    } catch (error) {
      hookFailure ??= { error };
    }
  }
  return { ...progress, hookFailure };
}
