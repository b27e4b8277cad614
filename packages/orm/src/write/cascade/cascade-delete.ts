/*
 * States of a deletion. The row is the root of a depth-first search (cascade-walk.ts).
 *
 *   requested ── one commit suffices ──────────────→ row, referrers, guard and job deleted
 *       │ more than one commit accepts
 *   checked: the program can write all tables, no row restricts, `beforeDelete` allows it
 *       │ commit
 *   job recorded
 *       │ one commit per step (cascade-steps.ts)
 *   some referrers deleted or cleared ── last step ─→ row, guard and job deleted
 *
 *   refused in any state (isRefusal) ──────→ job removed; the row stays, deleted rows stay deleted
 *   any other error, or a crash ───────────→ job stays for resumeDeletes, or the same delete again
 *
 * Job: ["__keywright", "cascade", model, ...id] = true. The row is being deleted in steps. The job
 * expires with the row, and a commit that creates the row again deletes it.
 * Guard: ["__keywright", "refs", model, ...id]. Changes with each new reference to the row.
 * No key records the progress. A resumed deletion walks from the root again over what is left.
 *
 * A crash before the job is recorded leaves everything as it was. After that it leaves the job, the
 * row and some referrers, and no dangling references except within a circle. After the last step it
 * leaves nothing. The `after` hooks of the step that was just committed may not have been called.
 */
import { KeywrightError, type KvKeyPart } from "@keywright/core";
import type { FoundRow } from "../../context/any-query.js";
import { ReadMeter } from "../../context/read-meter.js";
import { type TableContext, tablesWithin } from "../../context/table-context.js";
import {
  IndexKeyError,
  ReferenceMissingError,
  RowInvalidError,
  RowNotFoundError,
  RowReferencedError,
  UniqueConstraintError,
} from "../../errors/row-errors.js";
import { TransactionConflictError } from "../../errors/transaction-errors.js";
import { isSameKey } from "../../indexes/key-parts.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import { findByPrimaryKey } from "../../query/read/find-unique.js";
import { findRestriction } from "../../relations/find-restriction.js";
import { deleteJobKey } from "../../relations/guard-keys.js";
import { beginSearches, searchesWereComplete } from "../../relations/referrers.js";
import { setUntil } from "../../transaction/buffer/set-until.js";
import { isLimitError } from "../../transaction/limit-error-of.js";
import { pauseBeforeAttempt } from "../../transaction/pause.js";
import { runTransaction } from "../../transaction/run-transaction.js";
import type { TransactionKv } from "../../transaction/transaction-kv.js";
import { unexpired } from "../commit/row-expiry.js";
import { isHookError } from "../input/hook-errors.js";
import { callBeforeDelete } from "../input/row-hooks.js";
import type { WriteOptions } from "../input/write-options.js";
import { deleteSingleRow } from "../rows/delete-single-row.js";
import { assertVersion, type FindRow } from "../rows/find-row.js";
import { runAtomically } from "../rows/run-atomically.js";
import { CascadeBudget } from "./cascade-budget.js";
import { cascadeReach } from "./cascade-reach.js";
import { deleteInSteps, maxRowsPerCommit } from "./cascade-steps.js";
import { type CascadeWalkOptions, createStack, walkCascade } from "./cascade-walk.js";

const maxAttempts = 100;
const unlimited = { checks: Number.POSITIVE_INFINITY, mutations: Number.POSITIVE_INFINITY };

/** A requested deletion: how the row is found, the condition to report in errors, and options. */
interface Deletion {
  readonly find: FindRow;
  readonly where: unknown;
  readonly options: WriteOptions;
}

/** Ends a transaction that would need more than one commit. */
class TooManyRows extends Error {}

/** Thrown if `find` now finds another row than at first. */
class OtherRowFound extends Error {}

/**
 * Deletes a row of a model to which models refer, and deletes or clears the rows that refer to it,
 * as their relations require.
 *
 * One commit does all of it if it fits: at most 1000 rows, and within the limits of the database.
 * Otherwise it takes several steps of one commit each, and the row itself is deleted last. Within a
 * transaction of the caller, all of it is part of that transaction, whatever the number of rows.
 *
 * @param where the condition to report in errors.
 * @returns the row as it was.
 * @throws {RowNotFoundError} if the row does not exist.
 * @throws {RowReferencedError} if a relation forbids the deletion of one of the rows. Nothing is
 * written, unless the reference was made after the first of several steps. Rows that were deleted
 * before then stay deleted, and the row itself stays.
 * @throws {VersionConflictError} if the versionstamp of the row is not `ifVersion`. Of several
 * steps, only the first one checks this.
 * @throws {StaleSchemaError}, {SchemaNotMigratedError}, {IndexChangedError} if the program may not
 * write one of the models, and {IndexNotReadyError} if it cannot find the referring rows. No step
 * is then made.
 * @throws the error of a hook. If it is an `after` hook, the row is already deleted.
 */
export async function cascadeDelete(
  context: TableContext,
  find: FindRow,
  where: unknown,
  options: WriteOptions,
  meter: ReadMeter,
): Promise<FoundRow> {
  const deletion = { find, where, options };
  // The read limit of the caller does not apply, because the deletion must find every referrer.
  const reads = new ReadMeter(context.model.name, Number.POSITIVE_INFINITY);
  try {
    for (let attempt = 1; ; attempt++) {
      await pauseBeforeAttempt(attempt);
      try {
        return await deleteFound(context, deletion, reads);
      } catch (error) {
        if (!(error instanceof OtherRowFound)) throw error;
        if (attempt === maxAttempts) throw new TransactionConflictError(attempt);
      }
    }
  } finally {
    meter.reads += reads.reads;
  }
}

async function deleteFound(
  context: TableContext,
  deletion: Deletion,
  meter: ReadMeter,
): Promise<FoundRow> {
  const found = await unexpired(context, context.catalog.snapshot, await deletion.find());
  if (found === undefined) throw new RowNotFoundError(context.model.name, deletion.where);
  const { primaryKey } = found;
  if (context.transaction !== undefined) {
    return await deleteInTransaction(context, deletion, primaryKey, meter);
  }
  return await removeJobIfRefused(context, primaryKey, async () => {
    const deleted = await tryOneCommit(context, deletion, primaryKey, meter);
    if (deleted !== undefined) return deleted;
    await recordJob(context, deletion, primaryKey);
    const deletedInSteps = await deleteInSteps(context, primaryKey, meter);
    if (deletedInSteps === undefined)
      throw new RowNotFoundError(context.model.name, deletion.where);
    return deletedInSteps;
  });
}

/** Runs a part of a deletion, and removes the job of the row if the deletion is refused. */
async function removeJobIfRefused<T>(
  { kv, model }: TableContext,
  primaryKey: readonly KvKeyPart[],
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isRefusal(error)) {
      const job = await kv.get(deleteJobKey(model, primaryKey));
      if (job.versionstamp !== null) await kv.atomic().check(job).delete(job.key).commit();
    }
    throw error;
  }
}

/** The errors with which rows, relations and schemas refuse a deletion. */
const refusalErrors = [
  RowReferencedError,
  RowInvalidError,
  UniqueConstraintError,
  ReferenceMissingError,
  IndexKeyError,
] as const;

/**
 * True if an error refuses the deletion: a hook threw it, or it would be thrown again. False for
 * errors that have nothing to do with the rows, such as a lost connection or an outdated schema.
 */
function isRefusal(error: unknown): boolean {
  if (error instanceof KeywrightError && error.retryable) return false;
  return isHookError(error) || refusalErrors.some((refusalError) => error instanceof refusalError);
}

/** Deletes a row as part of the caller's transaction. If it throws, none of its writes remain. */
async function deleteInTransaction(
  context: TableContext,
  deletion: Deletion,
  primaryKey: readonly KvKeyPart[],
  meter: ReadMeter,
): Promise<FoundRow> {
  return await runAtomically(context, async ({ tables }) => {
    const budget = new CascadeBudget(unlimited, Number.POSITIVE_INFINITY);
    const walkTables = { writes: tables, reads: tables, lists: tables };
    const maxDepth = Number.POSITIVE_INFINITY;
    return await deleteInOneWalk(deletion, context, primaryKey, {
      tables: walkTables,
      budget,
      meter,
      maxDepth,
    });
  });
}

/** Tries to delete everything in one commit. Returns undefined if that is too much for one. */
async function tryOneCommit(
  context: TableContext,
  deletion: Deletion,
  primaryKey: readonly KvKeyPart[],
  meter: ReadMeter,
): Promise<FoundRow | undefined> {
  const tooMany = new AbortController();
  const attempt = async (transaction: TransactionKv) => {
    try {
      const within = tablesWithin(context.tables, transaction);
      // Entries are listed outside of the transaction, so that the commit does not check them. It
      // checks the guards, which detect new references, and the rows, which show outdated entries.
      const tables = { writes: within, reads: within, lists: context.tables };
      const budget = new CascadeBudget(context.limits, maxRowsPerCommit);
      const maxDepth = Math.min(maxRowsPerCommit, context.limits.checks);
      return await deleteInOneWalk(deletion, context, primaryKey, {
        tables,
        budget,
        meter,
        maxDepth,
      });
    } catch (error) {
      // Without the signal, conflicting reads would cause further attempts. With many concurrent
      // writes, each attempt would end here again.
      if (error instanceof TooManyRows) tooMany.abort();
      throw error;
    }
  };
  try {
    return await runTransaction(context.kv, attempt, { signal: tooMany.signal });
  } catch (error) {
    const isTooLarge = !isHookError(error) && isLimitError(error);
    if (error instanceof TooManyRows || isTooLarge) return undefined;
    throw error;
  }
}

/**
 * Deletes a row and everything that goes with it in the transaction of a walk.
 *
 * @throws {TooManyRows} if the walk ends early, because of its budget or depth.
 * @throws {OtherRowFound} if `find` no longer finds the row with this primary key.
 */
async function deleteInOneWalk(
  { find, where, options }: Deletion,
  { model }: TableContext,
  primaryKey: readonly KvKeyPart[],
  walk: CascadeWalkOptions,
): Promise<FoundRow> {
  const findSame = async () => {
    const found = await find();
    if (found !== undefined && !isSameKey(found.primaryKey, primaryKey)) throw new OtherRowFound();
    return found;
  };
  const deleteRoot = (within: TableContext) => deleteSingleRow(within, findSame, where, options);
  const { deletedRoot } = await walkCascade(createStack(model, primaryKey), {
    ...walk,
    deleteRoot,
  });
  if (deletedRoot === undefined) throw new TooManyRows();
  return deletedRoot;
}

/**
 * Checks that the program can finish the deletion of a row in steps: it may write each model whose
 * rows may be deleted or cleared, it can read the indexes that find them, and no row restricts the
 * deletion. In the middle of the steps it would be too late to find this out.
 *
 * @throws {RowReferencedError} if a row restricts the deletion.
 * @throws {IndexNotReadyError} if an index that finds referring rows is not built.
 * @throws the errors of `CatalogSnapshot.assertWritable`.
 */
async function assertFinishable(
  tables: ReadonlyMap<string, TableContext>,
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
): Promise<void> {
  const { written, references } = cascadeReach(tables, model);
  let isComplete: boolean;
  do {
    await Promise.all(Array.from(written, ({ catalog }) => catalog.reload()));
    for (const { catalog } of written) catalog.snapshot.assertWritable();
    const searches = await beginSearches(tables, references);
    await findRestriction(tables, model, primaryKey);
    isComplete = await searchesWereComplete(tables, searches);
  } while (!isComplete);
}

/** Records the job of a deletion, if nothing forbids the deletion. */
async function recordJob(
  context: TableContext,
  { where, options }: Deletion,
  primaryKey: readonly KvKeyPart[],
): Promise<void> {
  const { kv, model, tables, catalog } = context;
  await assertFinishable(tables, model, primaryKey);
  await runTransaction(kv, async (transaction) => {
    // If another program has written the first row that expires, the old catalog does not show that
    // expiry times are recorded.
    await catalog.reload();
    const { snapshot } = catalog;
    snapshot.assertWritable();
    transaction.addCheck(snapshot.check);
    const meter = new ReadMeter(model.name, Number.POSITIVE_INFINITY);
    const within = { ...context, kv: transaction, transaction };
    const stored = await findByPrimaryKey(within, primaryKey, meter);
    const found = await unexpired(within, snapshot, stored);
    if (found === undefined) throw new RowNotFoundError(model.name, where);
    assertVersion(model, found, options);
    await callBeforeDelete(context, found.row);
    const { expireAt } = found;
    // The job expires with the row, because a later row with the same key must not be deleted.
    const expiry = expireAt === undefined ? {} : setUntil(expireAt, Date.now());
    await transaction.set(deleteJobKey(model, primaryKey), true, expiry);
  });
}

/**
 * Resumes a deletion whose job is recorded. If the deletion is refused, the job is removed.
 *
 * @throws {RowReferencedError} if a relation forbids the deletion of one of the rows. Rows that
 * were deleted before stay deleted.
 * @throws the error of a hook. The error of an `after` hook is thrown when everything is deleted.
 */
export async function finishDelete(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
  meter: ReadMeter,
): Promise<void> {
  await removeJobIfRefused(context, primaryKey, () => deleteInSteps(context, primaryKey, meter));
}
