/*
 * States of a deletion. The row is the root of a depth-first search (cascade-walk.ts).
 *
 *   requested ── no row refers to it ──────────────→ row, guard and job deleted
 *       │ a row refers to it                           (delete-unreferenced.ts)
 *   referenced ── one commit suffices ─────────────→ row, referrers, guard and job deleted
 *       │ more than one commit accepts                 (delete-at-once.ts)
 *   checked: the program can write all tables, no row restricts, `beforeDelete` allows it
 *       │ commit (delete-job.ts)
 *   job recorded
 *       │ one commit per step (delete-in-steps.ts)
 *   some referrers deleted or cleared ── last step ─→ row, guard and job deleted
 *
 *   refused in any state (refused-delete.ts) ─→ job removed; row stays, deleted rows stay deleted
 *   any other error, or a crash ──────────────→ job stays for resumeDeletes or the same delete
 *
 * Job: ["__keywright", "cascade", model, ...id] = time. The row is being deleted in steps, which
 * mark rows with this time. It is `true` if an earlier version wrote it. The job expires with the
 * row, and a commit that creates the row again deletes it.
 * Guard: ["__keywright", "refs", model, ...id]. Changes with each new reference to the row.
 * No key records the progress. A resumed deletion walks from the root again over what is left.
 *
 * A crash before the job is recorded leaves everything as it was. After that it leaves the job, the
 * row and some referrers, and no dangling references except within a circle. After the last step it
 * leaves nothing. The `after` hooks of the step that was just committed may not have been called.
 */
import type { KvKeyPart } from "@keywright/core";
import { RowNotFoundError } from "../../errors/row-errors.js";
import { TransactionConflictError } from "../../errors/transaction-errors.js";
import { nextCascadeMark } from "../../model/options/soft-delete.js";
import { awaitAll } from "../../promises/await-all.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { ReadMeter } from "../../state/context/read-meter.js";
import { markingAt, type TableContext } from "../../state/context/table-context.js";
import { referenceGuardKey } from "../../state/references/guard-keys.js";
import { FailedAttempt, retry } from "../../state/transaction/retry.js";
import type { WriteOptions } from "../input/write-options.js";
import { deleteSingleRow } from "../rows/delete-single-row.js";
import { type FindRow, findToWrite } from "../rows/find-row.js";
import { acceptsCatalogChecks, beginRoot, type CascadeFrame } from "./cascade-frame.js";
import {
  type Deletion,
  deleteInTransaction,
  OtherRowFound,
  tryOneCommit,
} from "./delete-at-once.js";
import { deleteInSteps } from "./delete-in-steps.js";
import { readJobTime, recordJob } from "./delete-job.js";
import { deleteUnreferenced, FirstCommitFailed } from "./delete-unreferenced.js";
import { removeJobIfRefused } from "./refused-delete.js";

const maxAttempts = 100;

/**
 * Deletes a row and returns it as it was. Rows that refer to it are deleted or changed as their
 * relations require.
 *
 * One commit does all of it if it fits: at most 1000 rows, and within the limits of the database.
 * Otherwise it takes several steps of one commit each, and the row itself is deleted last. Within a
 * transaction of the caller, all of it is part of that transaction, whatever the number of rows.
 *
 * @param where the condition to report in errors.
 * @param expectedKey the primary key, if the condition names it.
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
export async function deleteRow(
  context: TableContext,
  find: FindRow,
  where: unknown,
  options: WriteOptions,
  meter: ReadMeter,
  expectedKey?: readonly KvKeyPart[],
): Promise<FoundRow> {
  const { model, links, catalog, kv } = context;
  if (links.referencedBy.length === 0) return await deleteSingleRow(context, find, where, options);
  // The read limit of the caller does not apply, because the deletion must find every referrer.
  const reads = new ReadMeter(model.name, Number.POSITIVE_INFINITY);
  let isFirst = true;
  const deleteOnce = async (): Promise<FoundRow | FailedAttempt> => {
    const searchesFirst = isFirst && acceptsCatalogChecks(context);
    isFirst = false;
    // The guard is read with the row if possible, because it must be read before the search.
    const [found, readGuard, job] = await awaitAll([
      findToWrite(context, catalog.snapshot, find, where),
      expectedKey && kv.get(referenceGuardKey(model, expectedKey)),
      expectedKey && readJobTime(context, expectedKey),
    ]);
    const { primaryKey } = found;
    const time = job ?? (expectedKey ? undefined : await readJobTime(context, primaryKey));
    let guard = readGuard;
    let begun: CascadeFrame | undefined;
    if (context.transaction === undefined && searchesFirst) {
      guard ??= await kv.get(referenceGuardKey(model, primaryKey));
      begun = await beginRoot(context, primaryKey, guard);
    }
    try {
      const deletion = { primaryKey, find, where, options, meter: reads, found, guard, begun };
      return await deleteFound({ ...deletion, context }, time);
    } catch (error) {
      const isChanged = error instanceof OtherRowFound || error instanceof FirstCommitFailed;
      if (!isChanged) throw error;
      return new FailedAttempt((attempts) => new TransactionConflictError(attempts));
    }
  };
  try {
    return await retry(deleteOnce, { maxAttempts, pauses: "short" });
  } finally {
    meter.reads += reads.reads;
  }
}

/** @param time the time of an earlier deletion that was interrupted. */
async function deleteFound(found: Deletion, time: Date | undefined): Promise<FoundRow> {
  const { context, primaryKey, where, meter } = found;
  const marking = () => markingAt(context, time ?? nextCascadeMark());
  if (context.transaction !== undefined)
    return await deleteInTransaction({ ...found, context: marking() });
  return await removeJobIfRefused(context, primaryKey, async () => {
    const unreferenced = await deleteUnreferenced(found);
    if (unreferenced !== undefined) return unreferenced;
    const deletion = { ...found, context: marking() };
    const deletedAtOnce = await tryOneCommit(deletion);
    if (deletedAtOnce !== undefined) return deletedAtOnce;
    await recordJob(deletion);
    const deleted = await deleteInSteps(deletion.context, primaryKey, meter);
    if (deleted === undefined) throw new RowNotFoundError(context.model.name, where);
    return deleted;
  });
}
