import { type KvKeyPart, specificationOrder } from "@keywright/core";
import type { FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { RowNotFoundError, VersionConflictError } from "../../errors/row-errors.js";
import { pointerOf, rowKey } from "../../indexes/primary-key.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import type { Reference } from "../../model/linked-relations.js";
import { findByPrimaryKey } from "../../query/read/find-unique.js";
import { assertUnrestricted, isReferring } from "../../relations/find-restriction.js";
import { deleteJobKey, referenceGuardKey } from "../../relations/guard-keys.js";
import { isReferenceTo } from "../../relations/referenced-key.js";
import {
  beginSearches,
  firstReferrer,
  nextReferrer,
  type Referrer,
  type ReferrerCursor,
  type ReferrerSearch,
  searchesWereComplete,
  tableOfModel,
} from "../../relations/referrers.js";
import { type KeyId, keyIdOf } from "../../transaction/buffer/key-id.js";
import { hooksOf } from "../input/row-hooks.js";
import { deleteSingleRow } from "../rows/delete-single-row.js";
import type { FindRow } from "../rows/find-row.js";
import { updateRow } from "../rows/update-row.js";
import type { CascadeBudget } from "./cascade-budget.js";
import { clearedReference } from "./cleared-reference.js";

/**
 * A frame of the depth-first search: a row that is deleted after all of its referrers. The first
 * frame of a stack is that of the root, the row whose deletion was requested. Each other frame is a
 * referrer of the row in the frame before it, its parent.
 */
export interface CascadeFrame {
  readonly id: KeyId;
  readonly model: CompiledModel;
  readonly primaryKey: readonly KvKeyPart[];
  /** The reference to the parent; undefined for the root. */
  readonly parentReference:
    | { readonly fields: readonly string[]; readonly parentKey: readonly KvKeyPart[] }
    | undefined;
  /**
   * The versionstamp of the row's guard before the search for its referrers began. Null if there
   * was no guard; undefined if the search has not begun.
   */
  readonly guardVersionstamp: string | null | undefined;
  /** The searches for referrers; empty if the search has not begun. */
  readonly searches: readonly ReferrerSearch[];
  /** How many times the search began again. */
  readonly restarts: number;
  /** The position in the list of referrers. */
  readonly cursor: ReferrerCursor;
}

/** The tables that a walk uses, each with reads and writes in a transaction or outside of it. */
export interface CascadeTables {
  /** The tables in which rows are deleted and changed, always in the transaction. */
  readonly writes: ReadonlyMap<string, TableContext>;
  /**
   * The tables in which rows and guards are read on the first visit. In the transaction, its commit
   * checks them.
   */
  readonly reads: ReadonlyMap<string, TableContext>;
  /** The tables in which referrers are searched. */
  readonly lists: ReadonlyMap<string, TableContext>;
}

/** The state of a walk at the end of a step. */
export interface CascadeProgress {
  /** The frames from the root to the current row; empty if the deletion is complete. */
  readonly stack: readonly CascadeFrame[];
  /** The root as it was; undefined if it was not deleted yet, or no longer existed. */
  readonly deletedRoot: FoundRow | undefined;
}

const maxRestarts = 100;

/** Returns the stack at the beginning of a walk. */
export function createStack(
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
): readonly [CascadeFrame] {
  return [createFrame(model, primaryKey, undefined)];
}

function createFrame(
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
  parentReference: CascadeFrame["parentReference"],
): CascadeFrame {
  const id = keyIdOf(rowKey(model, primaryKey), specificationOrder);
  return {
    id,
    model,
    primaryKey,
    parentReference,
    guardVersionstamp: undefined,
    searches: [],
    restarts: 0,
    cursor: firstReferrer,
  };
}

/** Options of {@link walkCascade}. */
export interface CascadeWalkOptions {
  readonly tables: CascadeTables;
  readonly budget: CascadeBudget;
  readonly meter: ReadMeter;
  /** The maximum length of the stack. The walk ends when the stack gets longer. */
  readonly maxDepth: number;
  /** Deletes the root. By default it is found by its primary key and deleted. */
  readonly deleteRoot?: ((context: TableContext) => Promise<FoundRow>) | undefined;
  /** True if the root's `beforeDelete` hook has allowed the deletion. It is not called again. */
  readonly isRootApproved?: boolean;
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
 * @param initialStack that of {@link createStack}, or the stack with which the last step ended.
 * @throws {RowReferencedError} if a row refers to one of the rows by a relation with
 * `onDelete: "restrict"`, or keeps a reference that was to be cleared.
 * @throws {VersionConflictError} if a frame has restarted 100 times, because references to its row
 * were added or its indexes changed.
 */
export async function walkCascade(
  initialStack: readonly CascadeFrame[],
  options: CascadeWalkOptions,
): Promise<CascadeProgress> {
  const stack = [...initialStack];
  const onStack = new Set(stack.map(({ id }) => id));
  /** The rows that this walk has deleted. Searches outside of the transaction still find them. */
  const deletedIds = new Set<KeyId>();
  let deletedRoot: FoundRow | undefined;
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const { tables, budget } = options;
    const frame = top.guardVersionstamp === undefined ? await beginFrame(options, top) : top;
    const { searches, primaryKey, cursor } = frame;
    const next = await nextReferrer(tables.lists, searches, primaryKey, cursor);
    if (next !== undefined) {
      const { referrer } = next;
      const id = keyIdOf(rowKey(referrer.reference.model, referrer.primaryKey), specificationOrder);
      stack[stack.length - 1] = { ...frame, cursor: next.cursor };
      // A row on the stack is deleted when its own frame ends.
      const isVisited = onStack.has(id) || deletedIds.has(id);
      const outcome = isVisited
        ? await assertNotRestricting(options, frame, referrer)
        : await visitReferrer(options, frame, referrer);
      if (outcome === "full") {
        // The next step visits the same referrer again.
        stack[stack.length - 1] = frame;
        return { stack, deletedRoot };
      }
      if (outcome === "done") continue;
      onStack.add(id);
      stack.push(outcome);
      if (stack.length > options.maxDepth) return { stack, deletedRoot };
      continue;
    }
    stack[stack.length - 1] = frame;
    if (!(await isUnreferenced(options, frame))) {
      stack[stack.length - 1] = restartFrame(frame);
      if (budget.rows > 0 && tables.reads !== tables.writes) return { stack, deletedRoot };
      continue;
    }
    if (!budget.add(tableOfModel(tables.writes, top.model))) return { stack, deletedRoot };
    const deletedRow = await deleteFrameRow(options, frame);
    if (stack.length === 1) deletedRoot = deletedRow;
    onStack.delete(frame.id);
    // A row that was not deleted, because it refers to another row now, may be visited again as a
    // referrer of that row.
    if (deletedRow !== undefined) deletedIds.add(frame.id);
    stack.pop();
  }
  return { stack, deletedRoot };
}

/** Returns the references to a model, those that restrict first. */
function referencesTo(
  tables: ReadonlyMap<string, TableContext>,
  model: CompiledModel,
): readonly Reference[] {
  const { referencedBy } = tableOfModel(tables, model).links;
  const restricting = referencedBy.filter(({ onDelete }) => onDelete === "restrict");
  return [...restricting, ...referencedBy.filter(({ onDelete }) => onDelete !== "restrict")];
}

/** Reads the guard of a row and then begins the searches for its referrers. */
async function beginFrame(
  { tables }: CascadeWalkOptions,
  frame: CascadeFrame,
): Promise<CascadeFrame> {
  const references = referencesTo(tables.writes, frame.model);
  if (references.length === 0) return { ...frame, guardVersionstamp: null };
  const searches = await beginSearches(tables.lists, references);
  const { kv } = tableOfModel(tables.reads, frame.model);
  const { versionstamp } = await kv.get(referenceGuardKey(frame.model, frame.primaryKey));
  return { ...frame, guardVersionstamp: versionstamp, searches };
}

/**
 * True if no row can refer to the row except those that were visited. Reads the guard in the
 * transaction, so that its commit checks the guard.
 */
async function isUnreferenced(
  { tables }: CascadeWalkOptions,
  { model, primaryKey, guardVersionstamp, searches }: CascadeFrame,
): Promise<boolean> {
  if (searches.length === 0) return true;
  const { kv } = tableOfModel(tables.writes, model);
  const [{ versionstamp }, areComplete] = await Promise.all([
    kv.get(referenceGuardKey(model, primaryKey)),
    searchesWereComplete(tables.lists, searches),
  ]);
  return versionstamp === guardVersionstamp && areComplete;
}

function restartFrame({
  model,
  primaryKey,
  parentReference,
  restarts,
}: CascadeFrame): CascadeFrame {
  if (restarts === maxRestarts) {
    throw new VersionConflictError(model.name, pointerOf(primaryKey), restarts);
  }
  return { ...createFrame(model, primaryKey, parentReference), restarts: restarts + 1 };
}

/**
 * Refuses the deletion of a row if the referrer restricts it, even if the referrer itself is
 * deleted. A reference of a row to itself does not restrict.
 *
 * @throws {RowReferencedError} if the deletion is refused.
 */
async function assertNotRestricting(
  { tables }: CascadeWalkOptions,
  frame: CascadeFrame,
  referrer: Referrer,
): Promise<"done"> {
  if (referrer.reference.onDelete !== "restrict") return "done";
  if (await isReferring(tables.lists, frame.primaryKey, referrer))
    assertUnrestricted(frame, referrer);
  return "done";
}

/**
 * Applies the `onDelete` rule of a relation to a referrer.
 *
 * @returns `"done"`; `"full"` if the budget does not allow it in this step; or the frame to push if
 * the referrer may have referrers itself.
 */
async function visitReferrer(
  options: CascadeWalkOptions,
  frame: CascadeFrame,
  referrer: Referrer,
): Promise<"done" | "full" | CascadeFrame> {
  const { tables, budget, meter } = options;
  const { reference, primaryKey } = referrer;
  const { model, fields, onDelete } = reference;
  if (onDelete === "restrict") return await assertNotRestricting(options, frame, referrer);
  const parentReference = { fields, parentKey: frame.primaryKey };
  const context = tableOfModel(tables.writes, model);
  if (onDelete === "cascade" && context.links.referencedBy.length > 0) {
    const isCurrent = await isReferring(tables.reads, frame.primaryKey, referrer);
    return isCurrent ? createFrame(model, primaryKey, parentReference) : "done";
  }
  if (!budget.add(context)) return "full";
  const find = createFinder(context, primaryKey, parentReference, meter);
  const written = await writeUnlessGone(context.model, primaryKey, (where) =>
    onDelete === "cascade"
      ? deleteSingleRow(context, find, where, {})
      : updateRow(context, find, where, clearedReference(model, fields), {}),
  );
  // A hook or the schema may have kept the reference. Then the row must stay.
  const stillRefers =
    onDelete === "setNull" &&
    written !== undefined &&
    isReferenceTo(fields, written.row, frame.primaryKey);
  if (stillRefers) assertUnrestricted(frame, referrer);
  return "done";
}

/**
 * Deletes the row of a frame, with its guard and its job.
 *
 * @returns the row as it was; undefined if it does not exist or no longer refers to its parent. The
 * guard is then kept, except that of the root.
 */
async function deleteFrameRow(
  { tables, meter, deleteRoot, isRootApproved }: CascadeWalkOptions,
  { model, primaryKey, parentReference }: CascadeFrame,
): Promise<FoundRow | undefined> {
  const table = tableOfModel(tables.writes, model);
  const context =
    parentReference === undefined && isRootApproved ? withoutBeforeDelete(table) : table;
  const { kv, links } = context;
  let deleted: FoundRow | undefined;
  if (parentReference === undefined && deleteRoot !== undefined) {
    deleted = await deleteRoot(context);
  } else {
    const find = createFinder(context, primaryKey, parentReference, meter);
    deleted = await writeUnlessGone(model, primaryKey, (where) =>
      deleteSingleRow(context, find, where, {}),
    );
    // The row may still exist and refer to another row, so it needs its guard.
    if (deleted === undefined && parentReference !== undefined) return undefined;
  }
  if (links.referencedBy.length > 0) {
    const guardKey = referenceGuardKey(model, primaryKey);
    await kv.atomic().delete(guardKey).delete(deleteJobKey(model, primaryKey)).commit();
  }
  return deleted;
}

function withoutBeforeDelete(context: TableContext): TableContext {
  const hooks = hooksOf(context);
  if (hooks?.beforeDelete === undefined) return context;
  const { beforeDelete: _, ...others } = hooks;
  const { settings, model } = context;
  return {
    ...context,
    settings: { ...settings, hooks: { ...settings.hooks, [model.name]: others } },
  };
}

/** Returns a function that finds a row, if the row still refers to its parent. */
function createFinder(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
  parentReference: CascadeFrame["parentReference"],
  meter: ReadMeter,
): FindRow {
  return async () => {
    const found = await findByPrimaryKey(context, primaryKey, meter, true);
    if (found === undefined || parentReference === undefined) return found;
    return isReferenceTo(parentReference.fields, found.row, parentReference.parentKey)
      ? found
      : undefined;
  };
}

/** Returns the result of `write`, or undefined if `write` does not find its row. */
async function writeUnlessGone<T>(
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
  write: (where: object) => Promise<T>,
): Promise<T | undefined> {
  const where = Object.fromEntries(model.primaryKey.map((field, i) => [field, primaryKey[i]]));
  try {
    return await write(where);
  } catch (error) {
    // A hook may throw the same class for another row. The object identifies the error of this row.
    if (error instanceof RowNotFoundError && error.where === where) return undefined;
    throw error;
  }
}
