import type { KvEntry, KvKey, KvKeyPart } from "@keywright/core";
import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import { primaryKeyOfEntry, rowInEntry } from "../../model/keys/entry-value.js";
import { hasIndexKey } from "../../model/keys/index-entries.js";
import { rowKey } from "../../model/keys/primary-key.js";
import { storedTime } from "../../model/rows/time.js";
import type { AnyQuery, FoundRow } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { TableContext } from "../../state/context/table-context.js";
import { assertRow, foundRow } from "../../state/rows/found-row.js";
import { readKeys } from "../../state/rows/read-rows.js";
import { isEntryEnough, readsMarkedRows } from "../plan/covered-read.js";
import { queriedKey } from "../plan/fields/queried-part.js";

/**
 * Returns the row with a primary key. Costs one read.
 *
 * @param orAsStored true to return what is stored even if it is not a row or cannot be upgraded.
 */
export async function findByPrimaryKey(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
  meter: ReadMeter,
  orAsStored = false,
): Promise<FoundRow | undefined> {
  meter.index ??= "primaryKey";
  meter.add(1);
  const key = rowKey(context.model, primaryKey);
  const { snapshot } = context.catalog;
  const entry = await context.kv.get(key);
  if (!snapshot.upgradesRows && context.catalog.snapshot === snapshot) {
    return foundRow(context, primaryKey, entry, orAsStored);
  }
  return readUpgradedRow(context, primaryKey, key, orAsStored);
}

async function readUpgradedRow(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
  key: KvKey,
  orAsStored: boolean,
): Promise<FoundRow | undefined> {
  const [stored] = await readKeys(context, [key]);
  return stored && foundRow(context, primaryKey, stored, orAsStored);
}

/**
 * Returns the row with these values in a unique index. Reads the pointer and then the row, which is
 * returned only if it has the values. If the entry holds all that the query returns, only the entry
 * is read. If a writer has changed the entry between the two reads, both are repeated.
 */
export async function findByUniqueIndex(
  context: TableContext,
  index: CompiledIndex,
  values: readonly unknown[],
  meter: ReadMeter,
  query: AnyQuery = {},
): Promise<FoundRow | undefined> {
  const { kv, model, catalog } = context;
  meter.index = index.name;
  if (!catalog.isReadable(index)) await catalog.assertReadable(index);
  const key = queriedKey(model, index, values);
  meter.add(1);
  let entry = await kv.get(key);
  // A writer must get the whole row, never a part of it.
  const isEnough =
    query.forWrite === false &&
    isEntryEnough(index, query) &&
    !catalog.snapshot.upgradesRows &&
    !readsMarkedRows(context, index);
  while (entry.versionstamp !== null) {
    const primaryKey = primaryKeyOfEntry(model, index, entry.value);
    if (primaryKey === undefined) return undefined;
    if (isEnough) return coveredRow(context, index, primaryKey, entry);
    const found = await findByPrimaryKey(context, primaryKey, meter, query.orAsStored);
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
  context: TableContext,
  index: CompiledIndex,
  primaryKey: readonly KvKeyPart[],
  { key, value, versionstamp, expireAt }: KvEntry<unknown>,
): FoundRow | undefined {
  const row = rowInEntry(index, key, value as AnyRow);
  if (index.store === "copy") {
    if (!hasIndexKey(context.model, index, row, primaryKey, key)) return undefined;
    assertRow(context, row, primaryKey);
  }
  return { primaryKey, row, versionstamp, expireAt: storedTime(expireAt) };
}
