import type { KvKeyPart } from "@keywright/core";
import type { FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import { type TableContext, tablesWithin } from "../../context/table-context.js";
import { TransactionConflictError } from "../../errors/transaction-errors.js";
import type { AfterCommit } from "../../transaction/after-commit.js";
import { isLimitError } from "../../transaction/is-limit-error.js";
import { runTransaction } from "../../transaction/run-transaction.js";
import { isHookError } from "../input/hook-errors.js";
import { CascadeBudget } from "./cascade-budget.js";
import { type CascadeProgress, type CascadeRow, cascadePath, walkCascade } from "./cascade-walk.js";

/** So many rows one commit deletes or changes at the most. */
export const maxRows = 1000;

const maxAttempts = 100;

/** So often a step of several rows is tried before one of fewer rows is. */
const attemptsOfSeveral = 8;

/** How large a step may be, and how large it was when it was last tried. */
interface StepSize {
  readonly most: number;
  tried: number;
}

/** What hooks behind a step threw first. */
interface Failure {
  readonly error: unknown;
}

/**
 * Deletes a row whose deletion is decided and written down, and those who refer to it, in steps of one commit each: of fewer
 * rows where the database refuses one as too large, or others keep changing what it has read.
 *
 * @returns the row as it was; undefined where it is not there any more.
 * @throws {RowReferencedError} where one of those that would be deleted may not be.
 * @throws what a hook before a write throws; what the first of those behind one threw, when all is done.
 */
export async function deleteInSteps(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
  meter: ReadMeter,
): Promise<FoundRow | undefined> {
  let path: readonly CascadeRow[] = cascadePath(context.model, primaryKey);
  let deleted: FoundRow | undefined;
  let failure: Failure | undefined;
  let limit = maxRows;
  let most = maxRows;
  while (path.length > 0) {
    const size: StepSize = { most, tried: 0 };
    try {
      const step = await takeStep(context, path, size, meter);
      ({ path } = step);
      deleted ??= step.deleted;
      failure ??= step.failure;
      most = Math.min(2 * most, limit);
    } catch (error) {
      if (isHookError(error)) throw error;
      const isTooLarge = isLimitError(error);
      if (most === 1 || !(isTooLarge || error instanceof TransactionConflictError)) throw error;
      most = Math.max(1, Math.ceil(Math.min(most, size.tried) / 2));
      if (isTooLarge) limit = most;
    }
  }
  if (failure !== undefined) throw failure.error;
  return deleted;
}

/** Commits a step, and calls the hooks behind it: all of them, for it is written. */
async function takeStep(
  { kv, limits, tables }: TableContext,
  path: readonly CascadeRow[],
  size: StepSize,
  meter: ReadMeter,
): Promise<CascadeProgress & { readonly failure: Failure | undefined }> {
  let behind: AfterCommit[] = [];
  const attempts = size.most > 1 ? attemptsOfSeveral : maxAttempts;
  const progress = await runTransaction(
    kv,
    async (transaction) => {
      behind = [];
      transaction.afterCommit = (run) => {
        behind.push(run);
      };
      const budget = new CascadeBudget(limits, size.most);
      const writes = tablesWithin(tables, transaction);
      try {
        return await walkCascade(path, {
          tables: { writes, reads: tables, lists: tables },
          budget,
          meter,
          maxDepth: Number.POSITIVE_INFINITY,
          isDecided: true,
        });
      } finally {
        size.tried = budget.rows;
      }
    },
    { maxAttempts: attempts },
  );
  let failure: Failure | undefined;
  for (const run of behind) {
    try {
      await run(null);
    } catch (error) {
      failure ??= { error };
    }
  }
  return { ...progress, failure };
}
