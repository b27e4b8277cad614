import type { KvKeyPart } from "@keywright/core";
import { RowNotFoundError } from "../../errors/row-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import { findByPrimaryKey } from "../../read/find/find-unique.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { assertReferrerInScope } from "../../state/references/find-restriction.js";
import { isReferenceTo, referencedKey, rowIdOf } from "../../state/references/referenced-key.js";
import type { FindRow } from "../rows/find-row.js";
import type { CascadeWalk, ParentReference } from "./cascade-frame.js";

/** Returns the result of `write`, or undefined if `write` does not find its row. */
export async function writeUnlessGone<T>(
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

/**
 * Writes a referrer as {@link writeUnlessGone}, if it still refers to its parent, and remembers
 * which rows it restricts.
 */
export async function writeReferrer(
  { meter, writtenRestrictions }: CascadeWalk,
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
  { fields, parentKey }: ParentReference,
  write: (find: FindRow, where: object) => Promise<FoundRow>,
): Promise<FoundRow | undefined> {
  const { model, links } = context;
  let found: FoundRow | undefined;
  const find = async () => {
    const view = viewOf({ ...context, scope: undefined });
    found = await findByPrimaryKey(view, primaryKey, meter, true);
    const refers = found !== undefined && isReferenceTo(fields, found.row, parentKey);
    if (refers) assertReferrerInScope(context, found!.row);
    return found !== undefined && isReferenceTo(fields, found.row, parentKey) ? found : undefined;
  };
  const written = await writeUnlessGone(model, primaryKey, (where) => write(find, where));
  if (written === undefined || found === undefined) return written;
  const ownId = rowIdOf(model, primaryKey);
  for (const { name, relation, target, index } of links.relations.values()) {
    if (relation.kind !== "belongsTo" || relation.onDelete !== "restrict") continue;
    const targetKey = referencedKey(relation.fields, found.row);
    if (targetKey === undefined) continue;
    const reference = { ...relation, model, relation: name, index };
    const id = rowIdOf(target, targetKey);
    if (id !== ownId) writtenRestrictions.set(id, { reference, primaryKey });
  }
  return written;
}
