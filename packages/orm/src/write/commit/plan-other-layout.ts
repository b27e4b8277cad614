import type { AtomicCheck } from "@keywright/core";
import type { CatalogSnapshot } from "../../catalog/catalog-snapshot.js";
import type { OtherLayout } from "../../catalog/other-layout.js";
import type { TableContext } from "../../context/table-context.js";
import { assertStorable } from "../../indexes/assert-storable.js";
import { canBeStored } from "../../indexes/can-be-stored.js";
import { expectedEntries } from "../../indexes/expected-entries.js";
import { type IndexEntry, indexChanges, indexEntries } from "../../indexes/index-entries.js";
import { primaryKeyInRow, primaryKeyOf } from "../../indexes/primary-key.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { whenReady } from "../input/parse.js";
import { findForeignEntries } from "./find-foreign-entries.js";

/** What a change writes and deletes in the indexes of the other layout. */
export interface OtherLayoutChanges {
  readonly removed: readonly IndexEntry[];
  readonly written: readonly IndexEntry[];
  readonly checks: readonly AtomicCheck[];
}

const none: OtherLayoutChanges = { removed: [], written: [], checks: [] };

/**
 * Plans the entries of a row in the indexes of the other layout. The key index, which keeps two
 * rows from having the same other key, is planned with the indexes of the rows. Here, no value is
 * checked: the commit takes the same unique values in the indexes that are read.
 *
 * @param before the row as it is stored. Null if there is none.
 * @param after the row to store. Null to delete it.
 * @throws {IndexKeyError} if a value cannot be part of a key, or a key is too long.
 */
export function planOtherLayout(
  context: TableContext,
  { other }: CatalogSnapshot,
  before: AnyRow | null,
  after: AnyRow | null,
): OtherLayoutChanges | Promise<OtherLayoutChanges> {
  if (other === undefined || other.maintained.length === 0) return none;
  const written = after === null ? [] : entriesToWrite(context, other, after);
  const stored = before === null ? [] : storedEntries(context, other, before);
  const { removed } = indexChanges(stored, written);
  const foreign = findForeignEntries({ ...context, model: other.model }, removed);
  return whenReady(foreign, ({ entries, checks }) => {
    return { removed: removed.filter((entry) => !entries.has(entry)), written, checks };
  });
}

function entriesToWrite(
  { limits }: TableContext,
  { model, maintained }: OtherLayout,
  row: AnyRow,
): IndexEntry[] {
  const primaryKey = primaryKeyOf(model, row);
  const entries = indexEntries(model, maintained, row, primaryKey);
  assertStorable(model, primaryKey, entries, limits.keyBytes);
  return entries;
}

function storedEntries(
  { limits }: TableContext,
  { model, maintained }: OtherLayout,
  row: AnyRow,
): IndexEntry[] {
  const primaryKey = primaryKeyInRow(model, row);
  if (primaryKey === undefined) return [];
  const entries = expectedEntries(model, maintained, row, primaryKey);
  return entries.filter(({ key }) => canBeStored(key, limits.keyBytes));
}
