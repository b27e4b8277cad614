import type { AtomicCheck, KvKeyPart } from "@keywright/core";
import { ScopeError } from "../../errors/scope-error.js";
import type { AnyRow } from "../../model/compiled-model.js";
import type { Reference } from "../../model/relations/linked-relations.js";
import { isSameData } from "../../model/rows/is-same-data.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { viewOf } from "../../state/context/read-view.js";
import { isInScope } from "../../state/context/scope.js";
import type { RelatedStore } from "../../state/context/table-context.js";
import { writableCatalog } from "../../state/context/writable-catalog.js";
import { referenceGuardKey } from "../../state/references/guard-keys.js";
import { isReferenceTo, rowIdOf } from "../../state/references/referenced-key.js";
import {
  beginSearches,
  firstReferrer,
  nextReferrer,
  tableOfModel,
} from "../../state/references/referrers.js";
import { foundRow, readRows } from "../../state/rows/read-rows.js";
import type { KeyId } from "../../state/transaction/buffer/key-id.js";
import { unexpired } from "../expiry/row-expiry.js";
import { withCopies } from "./copied-values.js";

/** A row whose copies change, or the row that is written. */
export interface CopyingRow {
  readonly store: RelatedStore;
  readonly catalog: CatalogSnapshot;
  readonly primaryKey: readonly KvKeyPart[];
  readonly before: FoundRow;
  row: AnyRow;
}

/** The rows and the checks that a commit also needs if it changes copied fields. */
export interface CopiedRows {
  /** The row that is written. It may copy fields of itself through other rows. */
  readonly row: AnyRow;
  /** The other rows that change. */
  readonly copying: readonly CopyingRow[];
  readonly checks: readonly AtomicCheck[];
}

/**
 * Finds all rows that copy changed fields of a row, and those that copy these copies, and so on. A
 * row that is reached in several ways is changed once. The rows are found by the indexes of the
 * relations. The commit checks the guard of each copied row, which every new reference changes, so
 * no row is overlooked that begins to refer to it before the commit. It also checks the catalogs
 * that say which index is complete.
 *
 * No hook is called for these rows, and their `updatedAt` stays: a copy is no change of its own.
 *
 * @param isNew true if `before` has expired, so that every copy may differ.
 */
export async function copyToRows(
  store: RelatedStore,
  catalog: CatalogSnapshot,
  before: FoundRow,
  row: AnyRow,
  isNew: boolean,
): Promise<CopiedRows> {
  const { tables } = store;
  const { primaryKey } = before;
  const written: CopyingRow = { store, catalog, primaryKey, before, row };
  const writtenId = rowIdOf(store.model, primaryKey);
  const rows = new Map([[writtenId, written]]);
  const checks = new Map<KeyId, AtomicCheck>();
  const changed = [written];
  for (let source = changed.shift(); source !== undefined; source = changed.shift()) {
    const everyCopy = isNew && source === written;
    for (const reference of source.store.links.copiedBy) {
      if (!everyCopy && !isSourceChanged(reference, source)) continue;
      const table = tableOfModel(tables, reference.model);
      const tableCatalog = await writableCatalog(table);
      await addGuard(checks, source);
      checks.set(rowIdOf(reference.model, []), tableCatalog.check);
      const found = await findCopying(table, tableCatalog, reference, source.primaryKey);
      const others = found.map(
        (before) =>
          rows.get(rowIdOf(reference.model, before.primaryKey)) ?? {
            store: table,
            catalog: tableCatalog,
            primaryKey: before.primaryKey,
            before,
            row: before.row,
          },
      );
      // The row that is written may have begun to refer to the source, which no index shows yet.
      const isOwn = reference.model.name === store.model.name;
      for (const copying of new Set(isOwn ? [written, ...others] : others)) {
        const id = rowIdOf(reference.model, copying.primaryKey);
        if (!isReferenceTo(reference.fields, copying.row, source.primaryKey)) continue;
        const copied = withCopies(reference.copy, source.row, copying.row);
        if (copied === copying.row) continue;
        copying.row = copied;
        rows.set(id, copying);
        changed.push(copying);
      }
    }
  }
  rows.delete(writtenId);
  return { row: written.row, copying: [...rows.values()], checks: [...checks.values()] };
}

function isSourceChanged({ copy }: Reference, { before, row }: CopyingRow): boolean {
  const stored = before.stored ?? before.row;
  return Object.values(copy).some((field) => !isSameData(stored[field], row[field]));
}

/** Adds the check of a row's guard, which is read before the rows that refer to the row. */
async function addGuard(
  checks: Map<KeyId, AtomicCheck>,
  { store, primaryKey }: CopyingRow,
): Promise<void> {
  const { model, kv } = store;
  const id = rowIdOf(model, primaryKey);
  if (checks.has(id)) return;
  const key = referenceGuardKey(model, primaryKey);
  const { versionstamp } = await kv.get(key);
  checks.set(id, { key, versionstamp });
}

/** Returns the rows that refer to a row. */
async function findCopying(
  table: RelatedStore,
  catalog: CatalogSnapshot,
  reference: Reference,
  primaryKey: readonly KvKeyPart[],
): Promise<FoundRow[]> {
  const searches = await beginSearches(table.tables, [reference], true);
  const keys: (readonly KvKeyPart[])[] = [];
  for (let cursor = firstReferrer; ; ) {
    const next = await nextReferrer(table.tables, searches, primaryKey, cursor);
    if (next === undefined) break;
    keys.push(next.referrer.primaryKey);
    cursor = next.cursor;
  }
  const view = viewOf({ ...table, scope: undefined });
  const entries = await readRows(view, keys);
  const rows: FoundRow[] = [];
  for (const [i, entry] of entries.entries()) {
    const found = foundRow(view, keys[i]!, entry);
    if (found === undefined || !isReferenceTo(reference.fields, found.row, primaryKey)) continue;
    if (!isInScope(table, found.row)) {
      const reason =
        "a row outside of the scope copies fields of the row; write it without the scope";
      throw new ScopeError(table.model.name, "", reason);
    }
    const current = await unexpired(viewOf(table, catalog), found);
    if (current !== undefined) rows.push(current);
  }
  return rows;
}
