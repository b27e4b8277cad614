import type { KvKeyPart } from "@keywright/core";
import { isMarked } from "../../model/options/soft-delete.js";
import type { Reference } from "../../model/relations/linked-relations.js";
import { awaitAll } from "../../promises/await-all.js";
import { inParallel } from "../../promises/in-parallel.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { assertUnrestricted, isReferring } from "../../state/references/find-restriction.js";
import { isReferenceTo, rowIdOf } from "../../state/references/referenced-key.js";
import { tableOfModel } from "../../state/references/referrers.js";
import { readRows } from "../../state/rows/read-rows.js";
import { commitChange } from "../commit/commit-change.js";
import { parsePatch } from "../input/parse-row.js";
import { deleteSingleRow } from "../rows/delete-single-row.js";
import { type FindRow, findToWrite } from "../rows/find-row.js";
import { updateRow } from "../rows/update-row.js";
import { beginSearch, type CascadeFrame, type CascadeWalk, createFrame } from "./cascade-frame.js";
import { clearedReference } from "./cleared-reference.js";
import { writeReferrer } from "./write-unless-gone.js";

type PrimaryKey = readonly KvKeyPart[];

interface Visits {
  /** The number of referrers that were visited, from the first one. */
  readonly visits: number;
  /**
   * `"done"`; `"full"` if the budget does not allow further visits in this step; or the frame to
   * push, because the last visited referrer may have referrers itself.
   */
  readonly outcome: "done" | "full" | CascadeFrame;
}

/** How many searches for referrers of referrers are in progress at the same time. */
const searchesAtOnce = 8;

/**
 * Applies the `onDelete` rule of a relation to referrers of the row of a frame: to the first one,
 * or to all at the same time if they have no referrers themselves.
 *
 * @param keys the primary keys of the referrers.
 * @throws {RowReferencedError} if a referrer restricts, even if it is deleted itself, or if it
 * keeps a reference that was to be cleared.
 */
export async function visitReferrers(
  walk: CascadeWalk,
  frame: CascadeFrame,
  reference: Reference,
  keys: readonly PrimaryKey[],
): Promise<Visits> {
  const { tables, budget, visited } = walk;
  const { model, onDelete } = reference;
  const primaryKey = keys[0]!;
  if (onDelete === "restrict") {
    const referrer = { reference, primaryKey };
    const isCurrent = await isReferring(tables.lists, frame.primaryKey, referrer);
    if (isCurrent) assertUnrestricted(frame, referrer);
    return { visits: 1, outcome: "done" };
  }
  const table = tableOfModel(tables.writes, model);
  const context = onDelete === "setNull" ? { ...table, withDeleted: true } : table;
  if (onDelete === "cascade" && context.links.referencedBy.length > 0) {
    return { visits: 1, outcome: await frameOf(walk, frame, reference, keys) };
  }
  const fitting: PrimaryKey[] = [];
  let visits = 0;
  for (const key of keys) {
    // A row on the stack is deleted when its own frame ends.
    if (!visited.has(rowIdOf(model, key))) {
      if (!budget.add(context)) break;
      fitting.push(key);
    }
    visits++;
  }
  const write = (key: PrimaryKey) => writeLeaf(walk, context, frame, reference, key);
  if (context.settings.hooks[context.model.name] === undefined) {
    await awaitAll(fitting.map(write));
  } else {
    // The transaction keeps the rows. A hook may refuse a row, and is then not called for others.
    await readRows(viewOf(context), fitting);
    for (const key of fitting) await write(key);
  }
  return { visits, outcome: visits < keys.length ? "full" : "done" };
}

/** Deletes a referrer that has no referrers itself, or clears its reference. */
async function writeLeaf(
  walk: CascadeWalk,
  context: TableContext,
  frame: CascadeFrame,
  reference: Reference,
  primaryKey: PrimaryKey,
): Promise<void> {
  const { fields, onDelete } = reference;
  const parent = { fields, parentKey: frame.primaryKey };
  const written = await writeReferrer(walk, context, primaryKey, parent, (find, where) =>
    onDelete === "cascade"
      ? deleteSingleRow(context, find, where, {})
      : clearReference(context, find, where, fields),
  );
  // A hook or the schema may have kept the reference. Then the row must stay.
  const isKept =
    onDelete === "setNull" &&
    written !== undefined &&
    isReferenceTo(fields, written.row, frame.primaryKey);
  if (isKept) assertUnrestricted(frame, { reference, primaryKey });
}

/**
 * Returns the frame of the first referrer, or `"done"` if it does not refer to the row any longer.
 * Begins the searches for the referrers of some further ones too.
 */
async function frameOf(
  { tables, visited, begun }: CascadeWalk,
  frame: CascadeFrame,
  reference: Reference,
  keys: readonly PrimaryKey[],
): Promise<"done" | CascadeFrame> {
  const { model, fields } = reference;
  const first = rowIdOf(model, keys[0]!);
  if (visited.has(first)) return "done";
  if (!begun.has(first)) {
    begun.clear();
    const parent = { fields, parentKey: frame.primaryKey };
    await inParallel(keys.slice(0, searchesAtOnce), searchesAtOnce, async (primaryKey) => {
      const child = createFrame(model, primaryKey, parent);
      if (visited.has(child.id)) return;
      const isCurrent = await isReferring(tables.reads, frame.primaryKey, {
        reference,
        primaryKey,
      });
      if (isCurrent) begun.set(child.id, await beginSearch(tables, child));
    });
  }
  const child = begun.get(first);
  begun.delete(first);
  return child ?? "done";
}

/**
 * Clears a reference of a row, and returns the row. The write is an update, with its hooks. A row
 * that is marked as deleted is changed without hooks, and keeps its mark and its times.
 *
 * @param context reads rows that are marked as deleted.
 */
async function clearReference(
  context: TableContext,
  find: FindRow,
  where: object,
  fields: readonly string[],
): Promise<FoundRow> {
  const { model } = context;
  const patch = clearedReference(model, fields);
  const first = model.softDelete === undefined ? undefined : await find();
  if (first === undefined || !isMarked(model, first.row)) {
    return await updateRow(context, find, where, patch, {});
  }
  return await commitChange(context, async (catalog) => {
    const found = await findToWrite(context, catalog, find, where);
    const row = await parsePatch(model, found.row, patch);
    return { primaryKey: found.primaryKey, before: found, row };
  });
}
