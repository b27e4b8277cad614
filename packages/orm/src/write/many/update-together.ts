import type { KvCommitError, KvCommitResult } from "@keywright/core";
import { unexpired } from "../../derived/expiry/row-expiry.js";
import { dependentFields, isPlainChange } from "../../derived/plain-changes.js";
import type { PlannedChange } from "../../derived/plan-row.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { copyData } from "../../model/rows/copy-of-data.js";
import { storedForm } from "../../model/rows/stored-form.js";
import { whenReady } from "../../promises/when-ready.js";
import { isRowOfEntry } from "../../read/find/rows/row-reader.js";
import { capabilitiesOf } from "../../state/catalog/capabilities-of.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { withJoinedReads } from "../../state/context/kv/with-joined-reads.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import { type ReadView, viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { writableCatalog } from "../../state/context/writable-catalog.js";
import { linkedRow, readLinkedRows } from "../../state/rows/linked-rows.js";
import { foundRow, readRows, readStored } from "../../state/rows/read-rows.js";
import { isLimitError } from "../../state/transaction/limit-error-of.js";
import { planChange } from "../commit/plan-change.js";
import type { WriteOptions } from "../input/write-options.js";
import { changedRow } from "../rows/update-row.js";
import { isRefusal } from "./commit-together.js";
import type { FoundKey } from "./find-keys.js";
import {
  canCommitGroups,
  groupOperation,
  isPlainCatalog,
  type PlainChange,
  refersToItself,
} from "./group-operation.js";
import type { RowMatcher } from "./row-matcher.js";
import type { Outcome } from "./write-each.js";

/** How the rows of a call are updated. */
export interface RowUpdates {
  /** Tests a row by what it contains. */
  readonly matches: RowMatcher;
  readonly patch: AnyRow;
  readonly meter: ReadMeter;
}

/** What becomes of a row: a change, the error of its update, or nothing if the query lacks it. */
type RowUpdate = PlannedChange | PlainChange | { readonly error: unknown } | undefined;

/** What the plans of a group share. */
interface Planning extends RowUpdates {
  readonly catalog: CatalogSnapshot;
  /** The model, whose reads for the plans of several rows are made together. */
  readonly joined: TableContext;
  readonly view: ReadView;
  /** See `dependentFields`. */
  readonly fields: readonly string[] | undefined;
  /** Returns the data of the update for a row. Rows do not share its values that are objects. */
  readonly patchOfRow: () => AnyRow;
}

/** The group has a row whose update must have a commit of its own. */
class NotTogether extends Error {}

/** True if the rows of a call can be updated by one operation for each group of them. */
export function canUpdateTogether(context: TableContext, options: WriteOptions): boolean {
  return !refersToItself(context) && canCommitGroups(context, options);
}

/**
 * Updates a group of rows by one operation. This is not possible if one of them expires or takes a
 * unique key, or if others change one of them at the same time.
 *
 * @returns the outcomes that separate updates would have. Undefined if nothing was written, and the
 * rows have to be updated one by one.
 */
export async function updateTogether(
  context: TableContext,
  keys: readonly FoundKey[],
  updates: RowUpdates,
): Promise<Outcome[] | undefined> {
  if (capabilitiesOf(context.kv).turns.isUsed) return undefined;
  try {
    const catalog = await writableCatalog(context);
    if (!isPlainCatalog(catalog)) return undefined;
    const planned = await planUpdates(context, catalog, keys, updates);
    return planned && (await commitUpdates(context, catalog, planned));
  } catch {
    // Nothing was written. The update of each row reports the reason.
    return undefined;
  }
}

async function planUpdates(
  context: TableContext,
  catalog: CatalogSnapshot,
  keys: readonly FoundKey[],
  updates: RowUpdates,
): Promise<RowUpdate[] | undefined> {
  const view = viewOf(context, catalog);
  updates.meter.add(keys.length);
  const found = await readFound(view, keys);
  // The read may have found that the catalog has changed.
  if (view.snapshot !== catalog) return undefined;
  const { patch } = updates;
  const hasObjects = Object.values(patch).some((value) => typeof value === "object");
  const planning: Planning = {
    ...updates,
    catalog,
    joined: withJoinedReads(context, (joined) => readStored(context, joined)),
    view,
    fields: dependentFields(context, view),
    patchOfRow: hasObjects ? () => copyData(context.model, patch) : () => patch,
  };
  const begun: (RowUpdate | Promise<RowUpdate>)[] = [];
  for (let i = 0; i < keys.length; i++) {
    try {
      const update = whenReady(found(i), (row) => planFound(planning, row, keys[i]!));
      begun.push(update instanceof Promise ? update.catch(failed) : update);
    } catch (error) {
      begun.push({ error });
    }
  }
  const planned: RowUpdate[] = [];
  for (const each of begun) planned.push(each instanceof Promise ? await each : each);
  return planned.some((each) => each && "error" in each && each.error instanceof NotTogether)
    ? undefined
    : planned;
}

type Found = FoundRow | undefined;

/** Reads the rows of keys. Returns a function that returns the row of the key at a position. */
async function readFound(
  view: ReadView,
  keys: readonly FoundKey[],
): Promise<(position: number) => Found | Promise<Found>> {
  const index = keys[0]?.entry?.index;
  // Of a row of an earlier schema, also what is stored is needed.
  if (index === undefined || view.snapshot.upgradesRows) {
    const stored = await readRows(
      view,
      keys.map(({ primaryKey }) => primaryKey),
    );
    return (i) => unexpired(view, foundRow(view, keys[i]!.primaryKey, stored[i]!));
  }
  const entries = keys.map(({ entry }) => entry!.listed);
  const stored = await readLinkedRows(view, index, entries);
  return (i) => unexpired(view, linkedRow(view, index, entries[i]!, stored[i]));
}

function planFound(
  planning: Planning,
  found: Found,
  { entry }: FoundKey,
): RowUpdate | Promise<RowUpdate> {
  if (found === undefined) return undefined;
  const { view, matches } = planning;
  // Most rows still have the entry by which they were found.
  if (entry !== undefined && isRowOfEntry(view, entry.plan, found, entry.listed))
    return planUpdate(planning, found);
  return whenReady(matches(found, view), (isMatch) =>
    isMatch ? planUpdate(planning, found) : undefined,
  );
}

function planUpdate(planning: Planning, found: FoundRow): RowUpdate | Promise<RowUpdate> {
  if (found.expireAt !== undefined) throw new NotTogether();
  const { joined, patchOfRow } = planning;
  const row = changedRow(joined.model, found.row, patchOfRow());
  return row instanceof Promise
    ? row.then((changed) => planChanged(planning, found, changed))
    : planChanged(planning, found, row);
}

function planChanged(
  { joined, catalog, view, fields }: Planning,
  found: FoundRow,
  row: AnyRow,
): RowUpdate | Promise<RowUpdate> {
  const { primaryKey, versionstamp } = found;
  if (fields !== undefined && found.stored === undefined && isPlainChange(fields, found.row, row))
    return { primaryKey, versionstamp, row: storedForm(row) };
  const before = { primaryKey, row: found.row, stored: found.stored, versionstamp };
  return whenReady(planChange(joined, catalog, { primaryKey, before, row }, view), (planned) => {
    const { claims, upkeep } = planned.effects;
    if (claims.length > 0 || upkeep.length > 0) throw new NotTogether();
    return planned;
  });
}

const noErrors: readonly never[] = [];

function failed(error: unknown): { readonly error: unknown } {
  return { error };
}

async function commitUpdates(
  context: TableContext,
  catalog: CatalogSnapshot,
  planned: readonly RowUpdate[],
): Promise<Outcome[] | undefined> {
  const changes = planned.filter((each) => each !== undefined);
  if (changes.every((each) => "error" in each))
    return planned.map((each) => outcomeOf(each, { versionstamp: "" }));
  const committedAt = performance.now();
  const operation = groupOperation(context, catalog, changes);
  let result: KvCommitResult | KvCommitError;
  try {
    result = await operation.commit();
  } catch (error) {
    if (isLimitError(error) || isRefusal(error)) return undefined;
    // It may be unknown if the rows were written.
    return planned.map((each) => outcomeOf(each, { error }));
  }
  if (!result.ok) return undefined;
  const { versionstamp } = result;
  context.catalog.confirm(catalog, committedAt, versionstamp);
  return planned.map((each) => outcomeOf(each, { versionstamp }));
}

function outcomeOf(
  update: RowUpdate,
  commit: { readonly versionstamp: string } | { readonly error: unknown },
): Outcome {
  if (update === undefined) return { status: "fulfilled", value: undefined };
  if ("error" in update) return { status: "rejected", reason: update.error };
  if ("error" in commit) return { status: "rejected", reason: commit.error };
  const { primaryKey, row } = update;
  const written = { primaryKey, row: row!, versionstamp: commit.versionstamp };
  return { status: "fulfilled", value: { row: written, hookErrors: noErrors } };
}
