import type { KvKeyPart } from "@keywright/core";
import type { CatalogSnapshot } from "../../catalog/catalog-snapshot.js";
import type { FoundRow } from "../../context/any-query.js";
import { assertInScope } from "../../context/scope.js";
import type { TableContext } from "../../context/table-context.js";
import { whenReady } from "../../context/when-ready.js";
import { isBuilding, markSeen } from "../../derived/build-marks.js";
import { copyToRows } from "../../derived/copies/copy-to-rows.js";
import type { RowChange } from "../../derived/derived.js";
import { Effects } from "../../derived/effects.js";
import { rowEntries } from "../../derived/entries/row-entries.js";
import { planDerived } from "../../derived/plan-derived.js";
import { type View, viewOf } from "../../derived/view.js";
import { rowKey } from "../../indexes/primary-key.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { isMarked } from "../../model/options/soft-delete.js";
import { storedForm } from "../../model/rows/stored-form.js";
import type { RowExpiry } from "../../model/rows/time.js";
import {
  type CheckedReferences,
  checkReferences,
  noReferences,
  type References,
} from "../../relations/check-references.js";
import { deleteJobKey } from "../../relations/guard-keys.js";

/** A change of one row, with everything that is committed with it. */
export interface PlannedChange {
  readonly primaryKey: readonly KvKeyPart[];
  /** The versionstamp of the row on which the change is based. Null if there was none. */
  readonly versionstamp: string | null;
  /** The row after the change. Null if it is deleted. */
  readonly row: AnyRow | null;
  readonly expiry: RowExpiry | undefined;
  /** What else is checked and written: also the changes of rows that copy fields of this row. */
  readonly effects: Effects;
}

export interface PlannedRow {
  readonly primaryKey: readonly KvKeyPart[];
  /** The stored row, with its expiry time. Null if there is none. */
  readonly before: FoundRow | null;
  /** True if `before` has expired, so that only its entries matter, and `row` is a new row. */
  readonly isNew?: boolean;
  /** True if its references are checked and its fields copied as for a new row. */
  readonly renewsReferences?: boolean;
  /** True if its fields are copied anew from the rows to which it refers. */
  readonly renewsCopies?: boolean;
  /** The row to store. Null to delete it. */
  readonly row: AnyRow | null;
  /** When the row expires. Undefined to keep its expiry time. */
  readonly expiry?: RowExpiry | undefined;
}

/**
 * Plans everything that a change of a row writes, by one snapshot of the catalog. Returns a promise
 * only if something has to be read, such as rows that are newly referred to.
 *
 * @throws {IndexKeyError} if a value cannot be part of a key, or a key is too long.
 * @throws {ReferenceMissingError} if the row refers to a row that does not exist.
 * @throws {UniqueConstraintError} if a recorded duplicate has a unique key that the row takes.
 */
export function planChange(
  context: TableContext,
  catalog: CatalogSnapshot,
  change: PlannedRow,
): PlannedChange | Promise<PlannedChange> {
  const row = change.row && storedForm(change.row);
  const planned = row === change.row ? change : { ...change, row };
  // Every change of a row is planned here.
  if (context.scope !== undefined) {
    if (planned.before !== null && !planned.isNew) assertInScope(context, planned.before.row);
    if (row !== null) assertInScope(context, row);
  }
  const { copied, relations } = context.model;
  const view = viewOf(context, catalog);
  if (row === null) return planRow(view, planned, context, { ...noReferences, row });
  if (copied.size === 0 && context.links.copiedBy.length === 0) {
    return refersToRows(relations)
      ? findReferences(context, planned, row).then((found) =>
          planRow(view, planned, context, found),
        )
      : planRow(view, planned, context, { ...noReferences, row });
  }
  return planWithCopies(context, catalog, planned, row);
}

/** Plans a change of a row that copies fields of other rows, or whose fields others copy. */
async function planWithCopies(
  context: TableContext,
  catalog: CatalogSnapshot,
  planned: PlannedRow,
  row: AnyRow,
): Promise<PlannedChange> {
  const { before, isNew = false } = planned;
  const view = viewOf(context, catalog);
  const references = await findReferences(context, planned, row);
  if (before === null || context.links.copiedBy.length === 0) {
    return await planRow(view, planned, context, references);
  }
  const copied = await copyToRows(context, catalog, before, references.row, isNew);
  const change =
    copied.row === references.row
      ? await planRow(view, planned, context, references)
      : await planCopied(context, catalog, planned, copied.row);
  const { checks } = change.effects;
  checks.push(...copied.checks);
  for (const each of copied.copying) {
    const { primaryKey, before: found } = each;
    const copying = { primaryKey, before: found, row: each.row };
    addCopying(change, each, await planCopied(each.context, each.catalog, copying, each.row));
  }
  return change;
}

/** Plans a change of a row that has its copies already. */
async function planCopied(
  context: TableContext,
  catalog: CatalogSnapshot,
  planned: PlannedRow,
  row: AnyRow,
): Promise<PlannedChange> {
  const references = await findReferences(context, planned, row, true);
  return await planRow(viewOf(context, catalog), planned, context, references);
}

/** Adds the change of a row that copies fields to the effects of the change of the copied row. */
function addCopying(
  { effects }: PlannedChange,
  { context, catalog }: { readonly context: TableContext; readonly catalog: CatalogSnapshot },
  { primaryKey, versionstamp, row, expiry, effects: added }: PlannedChange,
): void {
  const key = rowKey(context.model, primaryKey);
  effects.checks.push(catalog.check, { key, versionstamp }, ...added.checks);
  for (const claim of added.claims) effects.checks.push({ key: claim.key, versionstamp: null });
  effects.writes.push({ type: "set", key, value: row, expiry }, ...added.writes);
  effects.upkeep.push(...added.upkeep);
}

/**
 * @param references what keeps the references of the row valid, and the row with its copied fields.
 */
function planRow(
  view: View,
  planned: PlannedRow,
  { links }: TableContext,
  { row, checks, guards }: References & { readonly row: AnyRow | null },
): PlannedChange | Promise<PlannedChange> {
  const { model, snapshot } = view;
  const { primaryKey, before, isNew = before === null } = planned;
  const expiry = expiryOf(planned);
  const effects = new Effects();
  effects.checks.push(...checks);
  for (const key of guards) effects.writes.push({ type: "sum", key, by: 1n });
  // A delete job of an earlier row with the same key does not apply to this row.
  if (isNew && row !== null && links.referencedBy.length > 0) {
    effects.writes.push({ type: "delete", key: deleteJobKey(model, primaryKey) });
  }
  const entries = rowEntries(view, { ...planned, row, expiry });
  const stored = before && (before.stored ?? before.row);
  const change: RowChange = {
    primaryKey,
    before: stored === null ? undefined : { row: stored, entries: entries.before },
    after: row === null ? undefined : { row, entries: entries.after },
    beforeExpires: planned.isNew === true || before?.expireAt !== undefined,
    expiry,
    entries: entries.changes,
    isSeen: false,
  };
  const result = { primaryKey, versionstamp: before?.versionstamp ?? null, row, expiry, effects };
  if (!isBuilding(snapshot)) {
    return whenReady(planDerived(change, view, effects), () => result);
  }
  return markSeen(view, change, effects)
    .then((isSeen) => planDerived({ ...change, isSeen }, view, effects))
    .then(() => result);
}

/** Returns what keeps the references of a row valid. Those of a deleted row are not checked. */
async function findReferences(
  context: TableContext,
  { before, isNew = false, renewsReferences = false, renewsCopies = false }: PlannedRow,
  row: AnyRow,
  isCopied = false,
): Promise<CheckedReferences> {
  if (isMarked(context.model, row)) return { ...noReferences, row };
  const previous = isNew || renewsReferences ? null : before;
  const stored = previous === null ? null : (previous.stored ?? previous.row);
  const options = { stored, isCopied, renewsCopies };
  return await checkReferences(context, previous?.row ?? null, row, options);
}

function refersToRows(relations: TableContext["model"]["relations"]): boolean {
  for (const name in relations) if (relations[name]?.kind === "belongsTo") return true;
  return false;
}

/** Returns when the row expires. */
function expiryOf({ before, row, isNew, expiry }: PlannedRow): RowExpiry | undefined {
  if (row === null) return undefined;
  if (expiry !== undefined) return expiry;
  if (isNew || before?.expireAt === undefined) return undefined;
  return { expireAt: before.expireAt };
}
