import type { AnyRow } from "../../model/compiled-model.js";
import { whenReady } from "../../promises/when-ready.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { type ReadView, viewOf } from "../../state/context/read-view.js";
import type { RelatedStore } from "../../state/context/table-context.js";
import { planReferences, type References } from "../../state/references/plan-references.js";
import { tableOfModel } from "../../state/references/referrers.js";
import type { Effects } from "../effects.js";
import { type PlannedChange, type PlannedRow, planRow } from "../plan-row.js";
import { type CopyingRow, copyToRows } from "./copy-to-rows.js";
import { withCopiedFields } from "./with-copied-fields.js";

/** True if rows of a model copy fields of other rows, or if others copy theirs. */
export function hasCopies({ model, links }: RelatedStore): boolean {
  return model.copied.size > 0 || links.copiedBy.length > 0;
}

/**
 * Plans a change of a row that copies fields of other rows, or whose fields others copy. All rows
 * that copy a changed field change in the same commit.
 *
 * @throws the errors of `planReferences` and `planRow`.
 */
export function planWithCopies(
  store: RelatedStore,
  view: ReadView,
  planned: PlannedRow,
): PlannedChange | Promise<PlannedChange> {
  const { before, renewsCopies = false } = planned;
  const references = planReferences(store, planned, (row, previous, referenced) =>
    withCopiedFields(store, previous, row, referenced, renewsCopies),
  );
  return whenReady(references, (found) => {
    const { row } = found;
    return row === null || before === null || store.links.copiedBy.length === 0
      ? planRow(view, planned, found)
      : planCopied(store, view, planned, { ...found, row }, before);
  });
}

/** Plans a change of a row that others copy. */
async function planCopied(
  store: RelatedStore,
  view: ReadView,
  planned: PlannedRow,
  references: References & { readonly row: AnyRow },
  before: FoundRow,
): Promise<PlannedChange> {
  const { row } = references;
  const copied = await copyToRows(store, view.snapshot, before, row, planned.isNew ?? false);
  // The row may copy fields of itself through other rows.
  const isSame = copied.row === row;
  const change = await planRow(
    view,
    planned,
    isSame ? references : await planReferences(store, { ...planned, row: copied.row }),
  );
  change.effects.checks.push(...copied.checks);
  for (const copying of copied.copying) await addCopying(change.effects, copying);
  return change;
}

/** Adds the change of a row that copies fields to the effects of the change of the copied row. */
async function addCopying(
  effects: Effects,
  { store, catalog, primaryKey, before, row }: CopyingRow,
): Promise<void> {
  const planned = { primaryKey, before, row };
  const references = await planReferences(store, planned);
  const { effects: added } = await planRow(viewOf(store, catalog), planned, references);
  effects.checks.push(catalog.check, ...added.checks);
  for (const claim of added.claims) effects.checks.push({ key: claim.key, versionstamp: null });
  effects.writes.push(...added.writes);
  effects.upkeep.push(...added.upkeep);
}

/** Reads the catalogs again by which rows that copy fields of a model were changed. */
export async function reloadCopying({ links, tables }: RelatedStore): Promise<void> {
  for (const { model } of links.copiedBy) await tableOfModel(tables, model).catalog.reload();
}
