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
import { beginSearches, wereAllFound } from "../../relations/referrers.js";
import { isLimitError } from "../../transaction/is-limit-error.js";
import { pauseBeforeAttempt } from "../../transaction/pause.js";
import { runTransaction } from "../../transaction/run-transaction.js";
import { setUntil } from "../../transaction/set-until.js";
import type { TransactionKv } from "../../transaction/transaction-kv.js";
import { unexpired } from "../commit/row-expiry.js";
import { isHookError } from "../input/hook-errors.js";
import { askBeforeDelete } from "../input/row-hooks.js";
import type { WriteOptions } from "../input/write-options.js";
import { deleteSingleRow } from "../rows/delete-single-row.js";
import { assertVersion, type FindRow } from "../rows/find-row.js";
import { runAtomically } from "../rows/run-atomically.js";
import { CascadeBudget } from "./cascade-budget.js";
import { cascadeReach } from "./cascade-reach.js";
import { deleteInSteps, maxRows } from "./cascade-steps.js";
import { type CascadeWalkOptions, cascadePath, walkCascade } from "./cascade-walk.js";

const maxAttempts = 100;
const unlimited = { checks: Number.POSITIVE_INFINITY, mutations: Number.POSITIVE_INFINITY };

/** The row that is to be deleted, and how it is found. */
interface Deletion {
  readonly find: FindRow;
  readonly where: unknown;
  readonly options: WriteOptions;
}

/** Thrown out of a transaction that would be more than one commit takes. */
class TooManyRows extends Error {}

/** Thrown where another row is found than at first. */
class AnotherRow extends Error {}

/**
 * Deletes a row of a model to which others refer, and does with those who refer to it what their relations say.
 *
 * All of it is one commit where one can take it: a thousand rows at the most, and no more than the database takes at once.
 * Otherwise it is done in steps, the row itself last: whoever refers to a row is gone, or refers to nothing, when that is
 * deleted. That it is being deleted is written down before the first step, so that {@link finishDelete} can go on: unless
 * a hook, or a row that refers to it, says no, after which the row is not on its way out any more.
 * Within a transaction it is part of that, whatever number of rows there is.
 *
 * @param where names the row in the error.
 * @returns the row as it was.
 * @throws {RowNotFoundError} where there is none.
 * @throws {RowReferencedError} where one of those that would be deleted may not be. Nothing was written, unless the
 * reference was made after the first of several steps: what is deleted then stays deleted, and the row itself stays.
 * @throws {VersionConflictError} where it does not have the versionstamp asked for, which the first step checks.
 * @throws {StaleSchemaError}, {SchemaNotMigratedError}, {IndexChangedError} where the program may not write one of the models, and
 * {IndexNotReadyError} where it cannot look for those who refer to a row. Of several steps none is taken then.
 */
export async function cascadeDelete(
  context: TableContext,
  find: FindRow,
  where: unknown,
  options: WriteOptions,
  meter: ReadMeter,
): Promise<FoundRow> {
  const deletion = { find, where, options };
  // However many rows refer to it: what limits a query is no reason to leave some of them.
  const reads = new ReadMeter(context.model.name, Number.POSITIVE_INFINITY);
  try {
    for (let attempt = 1; ; attempt++) {
      await pauseBeforeAttempt(attempt);
      try {
        return await deleteFound(context, deletion, reads);
      } catch (error) {
        if (!(error instanceof AnotherRow)) throw error;
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
    return await deleteWithin(context, deletion, primaryKey, meter);
  }
  return await forgettingDecided(context, primaryKey, async () => {
    const deleted = await tryOneCommit(context, deletion, primaryKey, meter);
    if (deleted !== undefined) return deleted;
    await beginDelete(context, deletion, primaryKey);
    const last = await deleteInSteps(context, primaryKey, meter);
    if (last === undefined) throw new RowNotFoundError(context.model.name, deletion.where);
    return last;
  });
}

/** Has it no longer written down that a row is being deleted, where an error says that it is not to be deleted. */
async function forgettingDecided<T>(
  { kv, model }: TableContext,
  primaryKey: readonly KvKeyPart[],
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isDecision(error)) {
      const job = await kv.get(deleteJobKey(model, primaryKey));
      if (job.versionstamp !== null) await kv.atomic().check(job).delete(job.key).commit();
    }
    throw error;
  }
}

/** What rows, relations and schemas may say against a delete. */
const refusals = [
  RowReferencedError,
  RowInvalidError,
  UniqueConstraintError,
  ReferenceMissingError,
  IndexKeyError,
] as const;

/**
 * Whether an error says that a row is not to be deleted: a hook threw it, or it would be thrown again. A database that is out
 * of reach, or another schema than the program's, says nothing of the row.
 */
function isDecision(error: unknown): boolean {
  if (error instanceof KeywrightError && error.retryable) return false;
  return isHookError(error) || refusals.some((refusal) => error instanceof refusal);
}

/** As a part of the caller's transaction, which has all of it or, where it throws, nothing. */
async function deleteWithin(
  context: TableContext,
  deletion: Deletion,
  primaryKey: readonly KvKeyPart[],
  meter: ReadMeter,
): Promise<FoundRow> {
  return await runAtomically(context, async ({ tables }) => {
    const budget = new CascadeBudget(unlimited, Number.POSITIVE_INFINITY);
    const all = { writes: tables, reads: tables, lists: tables };
    const maxDepth = Number.POSITIVE_INFINITY;
    return await deleteAtOnce(deletion, context, primaryKey, {
      tables: all,
      budget,
      meter,
      maxDepth,
    });
  });
}

/** Undefined where it is more than one commit takes. */
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
      // Entries need not be part of the commit's conditions: the guards tell of new ones, the rows of those that are old.
      const tables = { writes: within, reads: within, lists: context.tables };
      const budget = new CascadeBudget(context.limits, maxRows);
      const maxDepth = Math.min(maxRows, context.limits.checks);
      return await deleteAtOnce(deletion, context, primaryKey, { tables, budget, meter, maxDepth });
    } catch (error) {
      // Even if what it has read does not fit together: where many write, that would go on.
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

async function deleteAtOnce(
  { find, where, options }: Deletion,
  { model }: TableContext,
  primaryKey: readonly KvKeyPart[],
  walk: CascadeWalkOptions,
): Promise<FoundRow> {
  const findSame = async () => {
    const found = await find();
    if (found !== undefined && !isSameKey(found.primaryKey, primaryKey)) throw new AnotherRow();
    return found;
  };
  const deleteFirst = (within: TableContext) => deleteSingleRow(within, findSame, where, options);
  const { deleted } = await walkCascade(cascadePath(model, primaryKey), { ...walk, deleteFirst });
  if (deleted === undefined) throw new TooManyRows();
  return deleted;
}

/**
 * Looks whether a row can be deleted with all that goes with it: the program may write each model of which that may be, can look
 * for its rows, and none of them forbids it. What is found out in the middle of the steps is found out too late.
 *
 * @throws {RowReferencedError} where a row forbids it.
 * @throws {StaleSchemaError} and what else `CatalogSnapshot.assertWritable` throws.
 * @throws {IndexNotReadyError} where an index by which rows are looked for is not built.
 */
async function assertFinishable(
  tables: ReadonlyMap<string, TableContext>,
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
): Promise<void> {
  const { written, references } = cascadeReach(tables, model);
  let areFound: boolean;
  do {
    await Promise.all(Array.from(written, ({ catalog }) => catalog.reload()));
    for (const { catalog } of written) catalog.snapshot.assertWritable();
    const searches = await beginSearches(tables, references);
    await findRestriction(tables, model, primaryKey);
    areFound = await wereAllFound(tables, searches);
  } while (!areFound);
}

/** Writes down that a row is being deleted, when it has found that nothing forbids it. */
async function beginDelete(
  context: TableContext,
  { where, options }: Deletion,
  primaryKey: readonly KvKeyPart[],
): Promise<void> {
  const { kv, model, tables, catalog } = context;
  await assertFinishable(tables, model, primaryKey);
  await runTransaction(kv, async (transaction) => {
    // Another program may have written the first row that expires.
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
    await askBeforeDelete(context, found.row);
    const { expireAt } = found;
    // It ends with the row: another that has its key later is not to be deleted.
    const until = expireAt === undefined ? {} : setUntil(expireAt, Date.now());
    await transaction.set(deleteJobKey(model, primaryKey), true, until);
  });
}

/**
 * Goes on with the deletion of a row that was begun: deletes it and those who refer to it, in steps of one commit each.
 *
 * @throws {RowReferencedError} where one of those that would be deleted may not be. What was deleted before stays deleted,
 * and the row itself is no longer on its way out.
 * @throws what a hook throws; that of one behind a write at the end, when all is done.
 */
export async function finishDelete(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
  meter: ReadMeter,
): Promise<void> {
  await forgettingDecided(context, primaryKey, () => deleteInSteps(context, primaryKey, meter));
}
