import type { FoundRow } from "../../state/context/any-query.js";
import { assertUnrestricted } from "../../state/references/find-restriction.js";
import {
  deleteJobKey,
  referenceGuardKey,
  restoreJobKey,
} from "../../state/references/guard-keys.js";
import { nextReferrer, tableOfModel } from "../../state/references/referrers.js";
import type { KeyId } from "../../state/transaction/buffer/key-id.js";
import { deleteSingleRow } from "../rows/delete-single-row.js";
import {
  beginFrame,
  type CascadeFrame,
  type CascadeWalk,
  type CascadeWalkOptions,
  isUnreferenced,
  restartFrame,
} from "./cascade-frame.js";
import { visitReferrers } from "./visit-referrers.js";
import { writeReferrer } from "./write-unless-gone.js";

/** The state of a walk at the end of a step. */
export interface CascadeProgress {
  /** The frames from the root to the current row; empty if the deletion is complete. */
  readonly stack: readonly CascadeFrame[];
  /** The root as it was; undefined if it was not deleted yet, or no longer existed. */
  readonly deletedRoot: FoundRow | undefined;
}

/**
 * Continues the deletion of a row, depth first. Before a row is deleted, the rows that refer to it
 * by a relation with `onDelete: "cascade"` are deleted, and references by one with `"setNull"` are
 * cleared. The walk ends when the stack is empty, the budget is used up, or `maxDepth` is exceeded.
 * The writes so far can then be committed: no remaining row refers to a deleted one, except rows on
 * the stack that are part of a circle.
 *
 * A row is deleted if its guard has not changed since before the search for its referrers, and if
 * the searched indexes stayed readable. Otherwise its frame restarts. If this step has written
 * rows, and guards are read outside of the transaction, the step ends first: the walk itself may
 * have changed the guard, and the search would see this only after the commit.
 *
 * A referrer that restricts refuses the deletion, even if the walk deletes or clears it too. The
 * order in which the walk visits the rows does not matter.
 *
 * @param initialStack the frame of the root, or the stack with which the last step ended.
 * @throws {RowReferencedError} if a row refers to one of the rows by a relation with
 * `onDelete: "restrict"`, or keeps a reference that was to be cleared.
 * @throws {VersionConflictError} if a frame has restarted 100 times, because references to its row
 * were added or its indexes changed.
 */
export async function walkCascade(
  initialStack: readonly CascadeFrame[],
  options: CascadeWalkOptions,
): Promise<CascadeProgress> {
  const { tables, budget, maxDepth } = options;
  const stack = [...initialStack];
  const visited = new Set(stack.map(({ id }) => id));
  const begun = new Map<KeyId, CascadeFrame>();
  const walk: CascadeWalk = { ...options, visited, begun, writtenRestrictions: new Map() };
  let deletedRoot: FoundRow | undefined;
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const frame = top.guardVersionstamp === undefined ? await beginFrame(tables, top) : top;
    const next = await nextReferrer(tables.lists, frame.searches, frame.primaryKey, frame.cursor);
    if (next !== undefined) {
      const { reference } = next.referrer;
      const keys = [next.referrer.primaryKey, ...next.cursor.pending];
      const { visits, outcome } = await visitReferrers(walk, frame, reference, keys);
      // If the step is full, the next one continues with the first referrer that was not visited.
      stack.push({ ...frame, cursor: { ...next.cursor, pending: keys.slice(visits) } });
      if (outcome === "full") break;
      if (outcome === "done") continue;
      visited.add(outcome.id);
      stack.push(outcome);
      if (stack.length > maxDepth) break;
      continue;
    }
    if (!(await isUnreferenced(tables, frame))) {
      stack.push(restartFrame(frame));
      if (budget.rows > 0 && tables.reads !== tables.writes) break;
      continue;
    }
    const restriction = walk.writtenRestrictions.get(frame.id);
    if (restriction !== undefined) assertUnrestricted(frame, restriction);
    if (!budget.add(tableOfModel(tables.writes, frame.model))) {
      stack.push(frame);
      break;
    }
    const deleted = await deleteFrameRow(walk, frame);
    if (stack.length === 0) deletedRoot = deleted;
    // A row that was not deleted, because it refers to another row now, may be visited again as a
    // referrer of that row.
    if (deleted === undefined) visited.delete(frame.id);
  }
  return { stack, deletedRoot };
}

/**
 * Deletes the row of a frame, with its guard and its job.
 *
 * @returns the row as it was; undefined if it does not exist or no longer refers to its parent. The
 * guard is then kept, except that of the root.
 */
async function deleteFrameRow(
  walk: CascadeWalk,
  { model, primaryKey, parentReference }: CascadeFrame,
): Promise<FoundRow | undefined> {
  const context = tableOfModel(walk.tables.writes, model);
  const deleted =
    parentReference === undefined
      ? await walk.deleteRoot(context)
      : await writeReferrer(walk, context, primaryKey, parentReference, (find, where) =>
          deleteSingleRow(context, find, where, {}),
        );
  // The row may still exist and refer to another row, so it needs its guard.
  if (deleted === undefined && parentReference !== undefined) return undefined;
  // A program that was opened without the referring models leaves the job to one that has them.
  if (context.links.referencedBy.length > 0) {
    const operation = context.kv.atomic().delete(referenceGuardKey(model, primaryKey));
    operation.delete(deleteJobKey(model, primaryKey));
    // A restoration that was interrupted does not apply to a later row with the same key.
    if (model.softDelete !== undefined) operation.delete(restoreJobKey(model, primaryKey));
    await operation.commit();
  }
  return deleted;
}
