import type { KvEntry, KvKeyPart } from "@keywright/core";
import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import { primaryKeyOfEntry, rowInEntry, selectedFields } from "../../model/keys/entry-value.js";
import { hasIndexKey } from "../../model/keys/index-entries.js";
import { rowKey } from "../../model/keys/primary-key.js";
import { storedTime } from "../../model/rows/time.js";
import { whenReady } from "../../promises/when-ready.js";
import type { AnyQuery, FoundRow } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { scopedUnique } from "../../state/context/scope.js";
import { assertRow, foundRow, readKeys } from "../../state/rows/read-rows.js";
import { queriedKey } from "../plan/fields/queried-value.js";
import { planUnique, primaryKeyIn, uniqueValues } from "../plan/plan-unique.js";
import { isEntryEnough, readsMarkedRows } from "../plan/ranges/query-plan.js";

/**
 * Returns the row with the values of a primary key or of a unique index. Costs one read, or two
 * through an index that points to the row.
 *
 * @param query says what is selected. The row itself is read, even if an index entry holds all that
 * is selected, unless `forWrite` is false.
 */
export function findOne(
  view: ReadView,
  unscoped: AnyRow,
  meter: ReadMeter,
  query: AnyQuery = {},
): Promise<FoundRow | undefined> {
  const { model } = view;
  const where = view.scope === undefined ? unscoped : scopedUnique(view, unscoped);
  const keys = planUnique(view.queriedModel, where, query.index);
  if (keys[0] === "primaryKey") {
    return findByPrimaryKey(view, primaryKeyIn(model, where), meter, query.orAsStored);
  }
  const index = readableIndex(view, keys as readonly CompiledIndex[]);
  if (!view.isChecked || !view.canRead(index)) return findAfterReload(view, where, meter, query);
  return findByUniqueIndex(view, index, uniqueValues(model, index, where), meter, query);
}

/** Finds a row by a unique index that is chosen after the catalog has been read again. */
async function findAfterReload(
  view: ReadView,
  where: AnyRow,
  meter: ReadMeter,
  query: AnyQuery,
): Promise<FoundRow | undefined> {
  await view.reload();
  const keys = planUnique(view.queriedModel, where, query.index) as readonly CompiledIndex[];
  const index = readableIndex(view, keys);
  await view.assertReadable(index);
  return findByUniqueIndex(view, index, uniqueValues(view.model, index, where), meter, query);
}

/** Returns the first unique index that can be read, or else the first. */
function readableIndex(view: ReadView, indexes: readonly CompiledIndex[]): CompiledIndex {
  if (indexes.length === 1) return indexes[0]!;
  return indexes.find((index) => view.canRead(index)) ?? indexes[0]!;
}

/**
 * Returns the row with a primary key. Costs one read.
 *
 * @param orAsStored true to return what is stored even if it is not a row or cannot be upgraded.
 */
export function findByPrimaryKey(
  view: ReadView,
  primaryKey: readonly KvKeyPart[],
  meter: ReadMeter,
  orAsStored = false,
): Promise<FoundRow | undefined> {
  meter.index ??= "primaryKey";
  meter.add(1);
  const key = rowKey(view.model, primaryKey);
  return view.kv.get(key).then((entry) =>
    whenReady(view.determinesSchema([entry]), (isDetermined) => {
      if (isDetermined) return foundRow(view, primaryKey, entry, orAsStored);
      // A change of all rows is under way, or has just begun.
      return readKeys(view, [key]).then(([stored]) =>
        foundRow(view, primaryKey, stored!, orAsStored),
      );
    }),
  );
}

/**
 * Returns the row with these values in a unique index. Reads the pointer and then the row, which is
 * returned only if it has the values. If the entry holds all that the query returns, only the entry
 * is read. If a writer has changed the entry between the two reads, both are repeated.
 */
async function findByUniqueIndex(
  view: ReadView,
  index: CompiledIndex,
  values: readonly unknown[],
  meter: ReadMeter,
  query: AnyQuery = {},
): Promise<FoundRow | undefined> {
  const { kv, model } = view;
  meter.index = index.name;
  const key = queriedKey(model, index, values);
  meter.add(1);
  let entry = await kv.get(key);
  // A writer must get the whole row, never a part of it.
  const isEnough =
    index.store !== "pointer" &&
    query.forWrite === false &&
    isEntryEnough(index, query) &&
    !view.snapshot.upgradesRows &&
    !readsMarkedRows(view, index);
  while (entry.versionstamp !== null) {
    const primaryKey = primaryKeyOfEntry(model, index, entry.value);
    if (primaryKey === undefined) return undefined;
    if (isEnough) return coveredRow(view, index, primaryKey, entry, query);
    const found = await findByPrimaryKey(view, primaryKey, meter, query.orAsStored);
    if (found && hasIndexKey(model, index, found.row, primaryKey, key)) return found;
    meter.add(1);
    const current = await kv.get(key);
    if (current.versionstamp === entry.versionstamp) return undefined;
    entry = current;
  }
  return undefined;
}

/** Returns what an entry holds of its row, unless it is a copy with another key. */
function coveredRow(
  view: ReadView,
  index: CompiledIndex,
  primaryKey: readonly KvKeyPart[],
  { key, value, versionstamp, expireAt }: KvEntry<unknown>,
  query: AnyQuery,
): FoundRow | undefined {
  const parts = { partAt: (position: number) => key[position] };
  const row = rowInEntry(index, parts, value as AnyRow, selectedFields(query.select));
  if (index.store === "copy") {
    if (!hasIndexKey(view.model, index, row, primaryKey, key)) return undefined;
    assertRow(view, row, primaryKey);
  }
  return { primaryKey, row, versionstamp, expireAt: storedTime(expireAt) };
}
