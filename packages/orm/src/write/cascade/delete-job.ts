import type { KvKeyPart } from "@keywright/core";
import type { CompiledModel } from "../../model/compiled-model.js";
import type { Reference } from "../../model/relations/linked-relations.js";
import { currentTime } from "../../model/rows/time.js";
import { awaitAll } from "../../promises/await-all.js";
import { findByPrimaryKey } from "../../read/find/find-unique.js";
import { ReadMeter } from "../../state/context/read-meter.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { findRestriction } from "../../state/references/find-restriction.js";
import { deleteJobKey } from "../../state/references/guard-keys.js";
import {
  beginSearches,
  searchesWereComplete,
  tableOfModel,
  withMarkedReferrers,
} from "../../state/references/referrers.js";
import { setUntil } from "../../state/transaction/buffer/set-until.js";
import { runTransaction } from "../../state/transaction/run-transaction.js";
import { callBeforeDelete } from "../input/row-hooks.js";
import { findToWrite } from "../rows/find-row.js";
import type { Deletion } from "./delete-at-once.js";

/**
 * Records the job of a deletion, if the deletion is allowed and the program can finish it. Its
 * value is the time with which the deletion marks rows.
 */
export async function recordJob({ context, primaryKey, where, options }: Deletion): Promise<void> {
  const { kv, model, tables, catalog } = context;
  await assertFinishable(tables, model, primaryKey);
  await runTransaction(kv, async (transaction) => {
    // If another program has written the first row that expires, the old catalog does not show that
    // expiry times are recorded.
    await catalog.reload();
    const { snapshot } = catalog;
    snapshot.assertWritable();
    transaction.addCheck(snapshot.check);
    const meter = new ReadMeter(model.name, Number.POSITIVE_INFINITY);
    const within = { ...context, kv: transaction, transaction };
    // A stored value that is not a row of this schema can still be deleted.
    const find = () => findByPrimaryKey(viewOf(within), primaryKey, meter, true);
    const { row, expireAt } = await findToWrite(within, snapshot, find, where, options);
    await callBeforeDelete(context, row);
    // The job expires with the row, because a later row with the same key must not be deleted.
    const expiry = expireAt === undefined ? {} : setUntil(expireAt, currentTime());
    await transaction.set(deleteJobKey(model, primaryKey), context.markedAt ?? true, expiry);
  });
}

/**
 * Returns the time with which an interrupted deletion of a row has marked rows. Undefined if there
 * is none.
 */
export async function readJobTime(
  { kv, model }: TableContext,
  primaryKey: readonly KvKeyPart[],
): Promise<Date | undefined> {
  if (model.softDelete === undefined) return undefined;
  const { value } = await kv.get(deleteJobKey(model, primaryKey));
  return value instanceof Date ? value : undefined;
}

/**
 * Checks that the program can finish the deletion of a row in steps: it may write each model whose
 * rows may be deleted or cleared, it can read the indexes that find them, and no row restricts the
 * deletion. In the middle of the steps it would be too late to find this out.
 *
 * @throws {RowReferencedError} if a row restricts the deletion.
 * @throws {IndexNotReadyError} if an index that finds referring rows is not built.
 * @throws the errors of `CatalogSnapshot.assertWritable`.
 */
async function assertFinishable(
  tables: ReadonlyMap<string, TableContext>,
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
): Promise<void> {
  const { written, references } = cascadeReach(tables, model);
  let isComplete: boolean;
  do {
    await awaitAll(Array.from(written, ({ catalog }) => catalog.reload()));
    for (const { catalog } of written) catalog.snapshot.assertWritable();
    const searches = await beginSearches(tables, references);
    await findRestriction(tables, model, primaryKey);
    isComplete = await searchesWereComplete(tables, searches);
  } while (!isComplete);
}

/**
 * Returns the tables whose rows the deletion of a row may delete or clear, whatever rows exist, and
 * the references by which it searches for them.
 */
function cascadeReach(
  tables: ReadonlyMap<string, TableContext>,
  model: CompiledModel,
): { readonly written: ReadonlySet<TableContext>; readonly references: readonly Reference[] } {
  const deleted = new Set([tableOfModel(tables, model)]);
  const cleared = new Set<TableContext>();
  const references: Reference[] = [];
  // The loop also visits the tables that it adds to the set.
  for (const {
    links,
    model: { softDelete },
    purges,
  } of deleted) {
    const isMarking = softDelete !== undefined && purges !== true;
    // A row that is only marked keeps the references to it.
    const followed = isMarking
      ? links.referencedBy.filter(({ onDelete }) => onDelete !== "setNull")
      : withMarkedReferrers(links.referencedBy);
    for (const reference of followed) {
      const table = tableOfModel(tables, reference.model);
      references.push(reference);
      if (reference.onDelete === "cascade") deleted.add(table);
      else if (reference.onDelete === "setNull") cleared.add(table);
    }
  }
  return { written: new Set([...deleted, ...cleared]), references };
}
