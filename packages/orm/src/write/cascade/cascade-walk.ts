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
  tableOfModel,
  wereAllFound,
} from "../../relations/referrers.js";
import { type KeyId, keyIdOf } from "../../transaction/key-id.js";
import { hooksOf } from "../input/row-hooks.js";
import { deleteSingleRow } from "../rows/delete-single-row.js";
import type { FindRow } from "../rows/find-row.js";
import { updateRow } from "../rows/update-row.js";
import type { CascadeBudget } from "./cascade-budget.js";
import { clearedReference } from "./cleared-reference.js";

/** A row that is to be deleted as soon as nobody refers to it any more. */
export interface CascadeRow {
  readonly id: KeyId;
  readonly model: CompiledModel;
  readonly primaryKey: readonly KvKeyPart[];
  /** By what it refers to the row before it on the path; undefined for the first. */
  readonly via:
    | { readonly fields: readonly string[]; readonly to: readonly KvKeyPart[] }
    | undefined;
  /** The versionstamp that its guard had before those who refer to it were looked for; undefined until then. */
  readonly guard: string | null | undefined;
  /** By what they are looked for; nothing until then. */
  readonly searches: readonly ReferrerSearch[];
  /** How often they were looked for anew, as somebody had begun to refer to it. */
  readonly rounds: number;
  readonly cursor: ReferrerCursor;
}

/** By which tables a walk goes about it. */
export interface CascadeTables {
  /** Within the transaction: rows are deleted and changed by these. */
  readonly writes: ReadonlyMap<string, TableContext>;
  /** Rows and guards are read by these when they are met: within the transaction where they have to hold at its commit. */
  readonly reads: ReadonlyMap<string, TableContext>;
  /** Those who refer to a row are looked for by these. */
  readonly lists: ReadonlyMap<string, TableContext>;
}

/** Where a walk has come to. */
export interface CascadeProgress {
  /** From the row that was to be deleted down to where the walk stands; empty at the end. */
  readonly path: readonly CascadeRow[];
  /** That first row as it was; undefined before it is deleted, and where it was not there any more. */
  readonly deleted: FoundRow | undefined;
}

const maxRounds = 100;

/** The path at the beginning of a walk. */
export function cascadePath(
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
): readonly [CascadeRow] {
  return [rowOnPath(model, primaryKey, undefined)];
}

function rowOnPath(
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
  via: CascadeRow["via"],
): CascadeRow {
  const id = keyIdOf(rowKey(model, primaryKey), specificationOrder);
  return {
    id,
    model,
    primaryKey,
    via,
    guard: undefined,
    searches: [],
    rounds: 0,
    cursor: firstReferrer,
  };
}

/** How a walk writes. */
export interface CascadeWalkOptions {
  readonly tables: CascadeTables;
  readonly budget: CascadeBudget;
  readonly meter: ReadMeter;
  /** How long the path may be: where it gets longer, the walk ends. */
  readonly maxDepth: number;
  /** Deletes the first row, by whatever it was found; without it, by its primary key. */
  readonly deleteFirst?: ((context: TableContext) => Promise<FoundRow>) | undefined;
  /** That the first row is deleted was decided before: its `beforeDelete` hook is not called any more. */
  readonly isDecided?: boolean;
}

/**
 * Goes on with the deletion of a row, depth first: those who refer to a row by a relation that cascades are deleted before it,
 * and the others refer to nothing then. It ends when all is done, or the budget is used up: what is written until then can be
 * committed, as nobody refers to a row that it has deleted, rows on the path aside.
 *
 * A row is deleted on condition that its guard is as it was before it was looked for who refers to it, and that this was by indexes
 * that could be read from the first to the last. Otherwise it is looked for again; where it is the walk itself that has changed
 * the guard, behind a commit, without which nothing else would be found.
 *
 * @throws {RowReferencedError} where somebody refers to one of the rows by a relation that restricts.
 * @throws {VersionConflictError} where others kept making references to one of the rows.
 */
export async function walkCascade(
  start: readonly CascadeRow[],
  options: CascadeWalkOptions,
): Promise<CascadeProgress> {
  const path = [...start];
  const onPath = new Set(path.map(({ id }) => id));
  /** What this walk has done with, and is still there for who does not look through the transaction. */
  const behind = new Set<KeyId>();
  let deleted: FoundRow | undefined;
  for (let row = path.at(-1); row !== undefined; row = path.at(-1)) {
    const { tables, budget } = options;
    const opened = row.guard === undefined ? await opening(options, row) : row;
    const { searches, primaryKey, cursor } = opened;
    const next = await nextReferrer(tables.lists, searches, primaryKey, cursor);
    if (next !== undefined) {
      const { referrer } = next;
      const id = keyIdOf(rowKey(referrer.reference.model, referrer.primaryKey), specificationOrder);
      path[path.length - 1] = { ...opened, cursor: next.cursor };
      // One on the path is deleted when its turn comes.
      const isLeft = onPath.has(id) || behind.has(id);
      const outcome = isLeft
        ? await skipped(options, opened, referrer)
        : await meet(options, opened, referrer);
      if (outcome === "full") {
        path[path.length - 1] = opened;
        return { path, deleted };
      }
      if (outcome === "done") continue;
      onPath.add(id);
      path.push(outcome);
      if (path.length > options.maxDepth) return { path, deleted };
      continue;
    }
    path[path.length - 1] = opened;
    if (!(await isFree(options, opened))) {
      path[path.length - 1] = again(opened);
      if (budget.rows > 0 && tables.reads !== tables.writes) return { path, deleted };
      continue;
    }
    if (!budget.add(tableOfModel(tables.writes, row.model))) return { path, deleted };
    const gone = await remove(options, opened);
    if (path.length === 1) deleted = gone;
    onPath.delete(opened.id);
    // One that has moved to another row may be met again, among those who refer to that.
    if (gone !== undefined) behind.add(opened.id);
    path.pop();
  }
  return { path, deleted };
}

/** Who may refer to a row of a model, those who forbid its deletion first. */
function referencesTo(
  tables: ReadonlyMap<string, TableContext>,
  model: CompiledModel,
): readonly Reference[] {
  const { referencedBy } = tableOfModel(tables, model).links;
  const restricting = referencedBy.filter(({ onDelete }) => onDelete === "restrict");
  return [...restricting, ...referencedBy.filter(({ onDelete }) => onDelete !== "restrict")];
}

/** The row with the guard that it has before anybody is looked for, and by what they are. */
async function opening({ tables }: CascadeWalkOptions, row: CascadeRow): Promise<CascadeRow> {
  const references = referencesTo(tables.writes, row.model);
  if (references.length === 0) return { ...row, guard: null };
  const searches = await beginSearches(tables.lists, references);
  const { kv } = tableOfModel(tables.reads, row.model);
  const { versionstamp } = await kv.get(referenceGuardKey(row.model, row.primaryKey));
  return { ...row, guard: versionstamp, searches };
}

/** Whether nobody refers to a row but those who were met. */
async function isFree(
  { tables }: CascadeWalkOptions,
  { model, primaryKey, guard, searches }: CascadeRow,
): Promise<boolean> {
  if (searches.length === 0) return true;
  const { kv } = tableOfModel(tables.writes, model);
  const [{ versionstamp }, areFound] = await Promise.all([
    kv.get(referenceGuardKey(model, primaryKey)),
    wereAllFound(tables.lists, searches),
  ]);
  return versionstamp === guard && areFound;
}

function again({ model, primaryKey, via, rounds }: CascadeRow): CascadeRow {
  if (rounds === maxRounds) {
    throw new VersionConflictError(model.name, pointerOf(primaryKey), rounds);
  }
  return { ...rowOnPath(model, primaryKey, via), rounds: rounds + 1 };
}

/** One who is on the path already: it forbids the deletion of another where it restricts, but not its own. */
async function skipped(
  { tables }: CascadeWalkOptions,
  row: CascadeRow,
  referrer: Referrer,
): Promise<"done"> {
  if (referrer.reference.onDelete !== "restrict") return "done";
  if (await isReferring(tables.lists, row.primaryKey, referrer)) assertUnrestricted(row, referrer);
  return "done";
}

/** Does what its relation says with one who refers to a row; or says that it is to be deleted before. */
async function meet(
  options: CascadeWalkOptions,
  row: CascadeRow,
  referrer: Referrer,
): Promise<"done" | "full" | CascadeRow> {
  const { tables, budget, meter } = options;
  const { reference, primaryKey } = referrer;
  const { model, fields, onDelete } = reference;
  if (onDelete === "restrict") return await skipped(options, row, referrer);
  const via = { fields, to: row.primaryKey };
  const context = tableOfModel(tables.writes, model);
  if (onDelete === "cascade" && context.links.referencedBy.length > 0) {
    const isThere = await isReferring(tables.reads, row.primaryKey, referrer);
    return isThere ? rowOnPath(model, primaryKey, via) : "done";
  }
  if (!budget.add(context)) return "full";
  const find = finder(context, primaryKey, via, meter);
  const left = await ignoringGone(context.model, primaryKey, (where) =>
    onDelete === "cascade"
      ? deleteSingleRow(context, find, where, {})
      : updateRow(context, find, where, clearedReference(model, fields), {}),
  );
  // Its schema or a hook may have had another mind: then the row that it refers to has to stay.
  const stillRefers =
    onDelete === "setNull" && left !== undefined && isReferenceTo(fields, left.row, row.primaryKey);
  if (stillRefers) assertUnrestricted(row, referrer);
  return "done";
}

/** Deletes a row that nobody refers to any more, with its guard and its job. */
async function remove(
  { tables, meter, deleteFirst, isDecided }: CascadeWalkOptions,
  { model, primaryKey, via }: CascadeRow,
): Promise<FoundRow | undefined> {
  const table = tableOfModel(tables.writes, model);
  const context = via === undefined && isDecided ? withoutBeforeDelete(table) : table;
  const { kv, links } = context;
  let deleted: FoundRow | undefined;
  if (via === undefined && deleteFirst !== undefined) {
    deleted = await deleteFirst(context);
  } else {
    const find = finder(context, primaryKey, via, meter);
    deleted = await ignoringGone(model, primaryKey, (where) =>
      deleteSingleRow(context, find, where, {}),
    );
    // It refers to another row by now, or is not there: who refers to it has gone, but it keeps its guard.
    if (deleted === undefined && via !== undefined) return undefined;
  }
  if (links.referencedBy.length > 0) {
    const guard = referenceGuardKey(model, primaryKey);
    await kv.atomic().delete(guard).delete(deleteJobKey(model, primaryKey)).commit();
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

function finder(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
  via: CascadeRow["via"],
  meter: ReadMeter,
): FindRow {
  return async () => {
    const found = await findByPrimaryKey(context, primaryKey, meter, true);
    if (found === undefined || via === undefined) return found;
    return isReferenceTo(via.fields, found.row, via.to) ? found : undefined;
  };
}

/** What `write` returns; undefined where it does not find its row. */
async function ignoringGone<T>(
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
  write: (where: object) => Promise<T>,
): Promise<T | undefined> {
  const where = Object.fromEntries(model.primaryKey.map((field, i) => [field, primaryKey[i]]));
  try {
    return await write(where);
  } catch (error) {
    // By this object the error is known as that of this row, and not one of a hook.
    if (error instanceof RowNotFoundError && error.where === where) return undefined;
    throw error;
  }
}
