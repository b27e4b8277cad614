import { IndexKeyError } from "../../errors/row-errors.js";
import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import { canBeStored } from "../../model/keys/can-be-stored.js";
import {
  type IndexChanges,
  type IndexEntry,
  indexChanges,
  indexEntries,
  isUntouched,
} from "../../model/keys/index-entries.js";
import type { RowExpiry } from "../../model/rows/time.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { ReadView } from "../../state/context/read-view.js";
import { countersNeedAllEntries, summedFields } from "../counters/maintained-counters.js";

/** A change of a row whose entries are computed. */
export interface ChangedRow {
  readonly primaryKey: FoundRow["primaryKey"];
  readonly before: FoundRow | null;
  /** True if `before` has expired, so that only its entries matter. */
  readonly isNew?: boolean;
  readonly row: AnyRow | null;
  /** Undefined if `row` does not expire. */
  readonly expiry: RowExpiry | undefined;
}

/** The entries of a row before and after a change, in the indexes that the change affects. */
export interface RowEntries {
  readonly before: readonly IndexEntry[];
  readonly after: readonly IndexEntry[];
  readonly changes: IndexChanges;
}

/**
 * Returns the entries that a change of a row affects. Computes keys and reads nothing.
 *
 * @throws {IndexKeyError} if a value of the new row cannot be part of a key.
 */
export function rowEntries(view: ReadView, change: ChangedRow): RowEntries {
  const { primaryKey, before: found, row } = change;
  const indexes = affectedIndexes(view, change);
  const before = found === null ? [] : storedEntries(view, indexes, found);
  const after = row === null ? [] : indexEntries(view.model, indexes, row, primaryKey);
  return { before, after, changes: entryChanges(view, change, before, after) };
}

/** Returns the indexes that a change touches, or all if every entry of the row is needed. */
function affectedIndexes({ snapshot }: ReadView, change: ChangedRow): readonly CompiledIndex[] {
  const { maintained, entry } = snapshot;
  const { before, row, isNew, expiry } = change;
  if (before === null || row === null || isNew) return maintained;
  if (entry.live || countersNeedAllEntries(snapshot)) return maintained;
  if (expiry !== undefined) return maintained;
  const stored = before.stored ?? before.row;
  return maintained.filter(
    (index) =>
      mayLackEntry(snapshot, before, index) ||
      !isUntouched(index, stored, row) ||
      summedFields(snapshot, index).some((field) => stored[field] !== row[field]),
  );
}

/** True if a transform may have given a unique key of the stored row to another row. */
function mayLackEntry(snapshot: CatalogSnapshot, before: FoundRow, index: CompiledIndex): boolean {
  return before.stored !== undefined && snapshot.isExchanging(index);
}

function entryChanges(
  { snapshot }: ReadView,
  { before: found, isNew, expiry }: ChangedRow,
  before: readonly IndexEntry[],
  after: readonly IndexEntry[],
): IndexChanges {
  const changes = indexChanges(before, after);
  const { removed, added, rewritten } = changes;
  // A new row takes its unique keys itself, because those of an expired row may belong to another
  // row by now.
  if (found === null || isNew) return { removed, added: after, rewritten: [] };
  // A row takes the unique keys again that it keeps if they may belong to another row by now.
  const uncertain = after.filter(({ index }) => mayLackEntry(snapshot, found, index));
  if (uncertain.length === 0 && expiry === undefined) return changes;
  const taken = new Set([...added, ...uncertain]);
  // No entry may outlive the row, so all entries of a row that expires are written with it.
  const kept = expiry === undefined ? rewritten : after;
  return { removed, added: [...taken], rewritten: kept.filter((entry) => !taken.has(entry)) };
}

/**
 * Returns the entries of a stored row. The row may have been written by hand. If an index cannot
 * hold its values, the row has no entry there, but it can still be updated or deleted.
 */
function storedEntries(
  { model, limits }: Pick<ReadView, "model" | "limits">,
  indexes: readonly CompiledIndex[],
  found: FoundRow,
): IndexEntry[] {
  try {
    const entries = indexEntries(model, indexes, found.stored ?? found.row, found.primaryKey);
    return entries.every(({ key }) => canBeStored(key, limits.keyBytes))
      ? entries
      : entries.filter(({ key }) => canBeStored(key, limits.keyBytes));
  } catch (error) {
    if (!(error instanceof IndexKeyError)) throw error;
    if (indexes.length === 1) return [];
    return indexes.flatMap((index) => storedEntries({ model, limits }, [index], found));
  }
}
