import { hasCopies, planWithCopies } from "../../derived/copies/plan-with-copies.js";
import { type PlannedChange, type PlannedRow, planRow } from "../../derived/plan-row.js";
import { storedForm } from "../../model/rows/stored-form.js";
import { whenReady } from "../../promises/when-ready.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import { type ReadView, viewOf } from "../../state/context/read-view.js";
import { assertInScope } from "../../state/context/scope.js";
import type { RelatedStore } from "../../state/context/table-context.js";
import { planReferences } from "../../state/references/plan-references.js";

/**
 * Plans everything that a change of a row writes, by one snapshot of the catalog. Every change of a
 * row is planned here. Returns a promise only if something has to be read, such as rows that are
 * newly referred to.
 *
 * @param view a view by the same snapshot.
 *
 * @throws {IndexKeyError} if a value cannot be part of a key, or a key is too long.
 * @throws {ReferenceMissingError} if the row refers to a row that does not exist.
 * @throws {UniqueConstraintError} if a recorded duplicate has a unique key that the row takes.
 */
export function planChange(
  store: RelatedStore,
  catalog: CatalogSnapshot,
  change: PlannedRow,
  view: ReadView = viewOf(store, catalog),
): PlannedChange | Promise<PlannedChange> {
  const row = change.row && storedForm(change.row);
  const planned = row === change.row ? change : { ...change, row };
  if (store.scope !== undefined) {
    if (planned.before !== null && !planned.isNew) assertInScope(store, planned.before.row);
    if (row !== null) assertInScope(store, row);
  }
  if (row !== null && hasCopies(store)) return planWithCopies(store, view, planned);
  return whenReady(planReferences(store, planned), (found) => planRow(view, planned, found));
}
