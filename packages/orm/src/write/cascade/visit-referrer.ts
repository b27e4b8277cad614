import { assertUnrestricted, isReferring } from "../../relations/find-restriction.js";
import { isReferenceTo, rowIdOf } from "../../relations/referenced-key.js";
import { type Referrer, tableOfModel } from "../../relations/referrers.js";
import { deleteSingleRow } from "../rows/delete-single-row.js";
import { updateRow } from "../rows/update-row.js";
import { type CascadeFrame, type CascadeWalk, createFrame } from "./cascade-frame.js";
import { clearedReference } from "./cleared-reference.js";
import { writeReferrer } from "./write-unless-gone.js";

/**
 * Applies the `onDelete` rule of a relation to a referrer of the row of a frame.
 *
 * @returns `"done"`; `"full"` if the budget does not allow it in this step; or the frame to push if
 * the referrer may have referrers itself.
 * @throws {RowReferencedError} if the referrer restricts, even if it is deleted itself, or if it
 * keeps a reference that was to be cleared.
 */
export async function visitReferrer(
  walk: CascadeWalk,
  frame: CascadeFrame,
  referrer: Referrer,
): Promise<"done" | "full" | CascadeFrame> {
  const { tables, budget, visited } = walk;
  const { reference, primaryKey } = referrer;
  const { model, fields, onDelete } = reference;
  if (onDelete === "restrict") {
    const isCurrent = await isReferring(tables.lists, frame.primaryKey, referrer);
    if (isCurrent) assertUnrestricted(frame, referrer);
    return "done";
  }
  // A row on the stack is deleted when its own frame ends.
  if (visited.has(rowIdOf(model, primaryKey))) return "done";
  const parentReference = { fields, parentKey: frame.primaryKey };
  const context = tableOfModel(tables.writes, model);
  if (onDelete === "cascade" && context.links.referencedBy.length > 0) {
    const isCurrent = await isReferring(tables.reads, frame.primaryKey, referrer);
    return isCurrent ? createFrame(model, primaryKey, parentReference) : "done";
  }
  if (!budget.add(context)) return "full";
  const written = await writeReferrer(walk, context, primaryKey, parentReference, (find, where) =>
    onDelete === "cascade"
      ? deleteSingleRow(context, find, where, {})
      : updateRow(context, find, where, clearedReference(model, fields), {}),
  );
  // A hook or the schema may have kept the reference. Then the row must stay.
  const isKept =
    onDelete === "setNull" &&
    written !== undefined &&
    isReferenceTo(fields, written.row, frame.primaryKey);
  if (isKept) assertUnrestricted(frame, referrer);
  return "done";
}
