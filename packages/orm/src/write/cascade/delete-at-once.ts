import type { KvEntryMaybe, KvKeyPart } from "@keywright/core";
import { isSameKey } from "../../model/keys/key-parts.js";
import { findByPrimaryKey } from "../../read/find/find-unique.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import { viewOf } from "../../state/context/read-view.js";
import { type TableContext, tablesWithin } from "../../state/context/table-context.js";
import { isLimitError } from "../../state/transaction/limit-error-of.js";
import { runTransaction } from "../../state/transaction/run-transaction.js";
import type { TransactionKv } from "../../state/transaction/transaction-kv.js";
import { isHookError } from "../input/row-hooks.js";
import type { WriteOptions } from "../input/write-options.js";
import { deleteSingleRow } from "../rows/delete-single-row.js";
import type { FindRow } from "../rows/find-row.js";
import { runAtomically } from "../rows/run-atomically.js";
import { CascadeBudget, maxRowsPerCommit } from "./cascade-budget.js";
import { type CascadeFrame, type CascadeWalkOptions, createFrame } from "./cascade-frame.js";
import { walkCascade } from "./cascade-walk.js";

/** A deletion of a row that was found. */
export interface Deletion {
  readonly context: TableContext;
  readonly primaryKey: readonly KvKeyPart[];
  /** Finds the row as the caller does, for example by a unique index. */
  readonly find: FindRow;
  /** As it was found by the first attempt. */
  readonly found: FoundRow;
  /** The guard of the row, if it was read with it. */
  readonly guard: KvEntryMaybe<unknown> | undefined;
  /** The search for the referrers of the row, if it has begun after the guard was read. */
  readonly begun: CascadeFrame | undefined;
  /** The condition to report in errors. */
  readonly where: unknown;
  readonly options: WriteOptions;
  readonly meter: ReadMeter;
}

/** Thrown if `find` now finds another row than at first. */
export class OtherRowFound extends Error {}

/** Ends a transaction that would need more than one commit. */
class TooManyRows extends Error {}

const unlimited = { checks: Number.POSITIVE_INFINITY, mutations: Number.POSITIVE_INFINITY };

/**
 * Deletes a row and everything that goes with it as part of the caller's transaction. If it throws,
 * none of its writes remain.
 *
 * @throws {OtherRowFound} if `find` no longer finds the row.
 */
export async function deleteInTransaction(deletion: Deletion): Promise<FoundRow> {
  const { result } = await runAtomically(deletion.context, ({ tables }) =>
    deleteInOneWalk(deletion, {
      tables: { writes: tables, reads: tables, lists: tables },
      budget: new CascadeBudget(unlimited, Number.POSITIVE_INFINITY),
      maxDepth: Number.POSITIVE_INFINITY,
    }),
  );
  return result;
}

/**
 * Tries to delete everything in one commit.
 *
 * @returns the row as it was; undefined if one commit does not accept everything.
 * @throws {OtherRowFound} if `find` no longer finds the row.
 */
export async function tryOneCommit(deletion: Deletion): Promise<FoundRow | undefined> {
  const { kv, tables, limits } = deletion.context;
  const { found, guard, begun } = deletion;
  const tooMany = new AbortController();
  let first: FoundRow | undefined = found;
  const attempt = async (transaction: TransactionKv) => {
    const known = first;
    first = undefined;
    try {
      const within = tablesWithin(tables, transaction);
      const isFirst = known !== undefined;
      if (isFirst && guard !== undefined) transaction.beginWith(guard);
      return await deleteInOneWalk(
        {
          ...deletion,
          find: findAfter(known, deletion.find),
          begun: isFirst ? begun : undefined,
        },
        {
          // The commit does not check entries that are listed outside of the transaction. Guards
          // show new references, and rows outdated entries.
          tables: { writes: within, reads: within, lists: tables },
          budget: new CascadeBudget(limits, maxRowsPerCommit),
          maxDepth: Math.min(maxRowsPerCommit, limits.checks),
        },
      );
    } catch (error) {
      // Without the signal, conflicting reads would cause further attempts. With many concurrent
      // writes, each attempt would end here again.
      if (error instanceof TooManyRows) tooMany.abort();
      throw error;
    }
  };
  try {
    return await runTransaction(kv, attempt, { signal: tooMany.signal });
  } catch (error) {
    const isTooLarge = !isHookError(error) && isLimitError(error);
    if (error instanceof TooManyRows || isTooLarge) return undefined;
    throw error;
  }
}

/** Returns a function that finds a row that is known, and then calls `find`. */
function findAfter(known: FoundRow | undefined, find: FindRow): FindRow {
  let next = known;
  return async (within) => {
    const found = next ?? (await find(within));
    next = undefined;
    return found;
  };
}

/** @throws {TooManyRows} if the walk ends early, because of its budget or depth. */
async function deleteInOneWalk(
  { context, primaryKey, find, where, options, meter, begun }: Deletion,
  walk: Pick<CascadeWalkOptions, "tables" | "budget" | "maxDepth">,
): Promise<FoundRow> {
  let isChanged = false;
  // The condition applies to the row as it was before the walk, which deletes related rows.
  const findSame: FindRow = async (within = context) => {
    const found = await find();
    if (found === undefined) return undefined;
    if (!isSameKey(found.primaryKey, primaryKey)) throw new OtherRowFound();
    if (isChanged) return await findByPrimaryKey(viewOf(within), primaryKey, meter, true);
    // If it is called again, a hook of a related row may have changed the row in the transaction.
    isChanged = true;
    return found;
  };
  const deleteRoot = (within: TableContext) => deleteSingleRow(within, findSame, where, options);
  const stack = [begun ?? createFrame(context.model, primaryKey)];
  const { deletedRoot } = await walkCascade(stack, { ...walk, meter, deleteRoot });
  if (deletedRoot === undefined) throw new TooManyRows();
  return deletedRoot;
}
