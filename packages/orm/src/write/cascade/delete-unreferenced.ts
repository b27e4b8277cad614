import type { FoundRow } from "../../state/context/any-query.js";
import { deleteJobKey, referenceGuardKey } from "../../state/references/guard-keys.js";
import type { Unreferenced } from "../../state/references/plan-references.js";
import { isLimitError } from "../../state/transaction/limit-error-of.js";
import { isHookError } from "../input/row-hooks.js";
import { deleteSingleRow } from "../rows/delete-single-row.js";
import type { FindRow } from "../rows/find-row.js";
import { type CascadeFrame, isSearched } from "./cascade-frame.js";
import type { Deletion } from "./delete-at-once.js";

/** Thrown if the commit has failed, because others have changed what was read. */
export class FirstCommitFailed extends Error {}

/**
 * Deletes a row to which no row refers, as one change. The commit checks the guard and the catalogs
 * of the search, as that of a walk does.
 *
 * @returns the row as it was. Undefined if a walk has to delete it: a row refers to it, it is only
 * marked, or a hook needs a transaction.
 * @throws {FirstCommitFailed} if another attempt has to read everything again.
 */
export async function deleteUnreferenced(deletion: Deletion): Promise<FoundRow | undefined> {
  const { context, begun, found, where, options } = deletion;
  const { model, settings } = context;
  if (begun === undefined || !isSearched(begun) || model.softDelete !== undefined) return undefined;
  if (settings.hooks[model.name]?.duringDelete !== undefined) return undefined;
  let isFirst = true;
  const findFirst: FindRow = async () => {
    if (!isFirst) throw new FirstCommitFailed();
    isFirst = false;
    return found;
  };
  try {
    const unreferenced = unreferencedRow(deletion, begun);
    return await deleteSingleRow(context, findFirst, where, options, { unreferenced });
  } catch (error) {
    if (!isHookError(error) && isLimitError(error)) return undefined;
    throw error;
  }
}

function unreferencedRow(
  { context: { model } }: Deletion,
  { primaryKey, guardVersionstamp = null, searches }: CascadeFrame,
): Unreferenced {
  const guard = { key: referenceGuardKey(model, primaryKey), versionstamp: guardVersionstamp };
  // The catalog of the row's model is checked here too. The change may check a later version of it,
  // and then the commit fails.
  const catalogs = new Set(searches.map((search) => search.catalog));
  return {
    checks: [guard, ...Array.from(catalogs, ({ check }) => check)],
    deletes: [...(guardVersionstamp === null ? [] : [guard.key]), deleteJobKey(model, primaryKey)],
  };
}
