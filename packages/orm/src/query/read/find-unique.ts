import type { KvEntry, KvKey, KvKeyPart } from "@keywright/core";
import type { AnyQuery, FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { primaryKeyOfEntry } from "../../indexes/entry-value.js";
import { hasIndexKey, indexKey } from "../../indexes/index-entries.js";
import { rowKey } from "../../indexes/primary-key.js";
import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import { isEntryEnough } from "../plan/covered-read.js";
import { queriedPart } from "../plan/queried-part.js";
import { assertRow, foundRow } from "./found-row.js";
import { readKeys } from "./read-rows.js";

/**
 * The row of a primary key. One read.
 *
 * @throws {StoredRowInvalidError} where what is stored is no row.
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
    return foundRow(context, primaryKey, entry);
  }
  return readHeldRow(context, primaryKey, key, orAsStored);
}

/** The row as the catalog says that it is to be read, of which it may be one of an earlier schema. */
async function readHeldRow(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
  key: KvKey,
  orAsStored: boolean,
): Promise<FoundRow | undefined> {
  const [held] = await readKeys(context, [key]);
  return held && foundRow(context, primaryKey, held, orAsStored);
}

/**
 * The row that has these values in a unique index. Two reads: the pointer and the row, which is returned only where it
 * has the values; one where the entry holds what the query asks for. Where a writer came between the two, they are made
 * again.
 *
 * @throws {InvalidQueryError} for a value that the index cannot take.
 * @throws {IndexNotReadyError} where the index is not built.
 * @throws {StoredRowInvalidError} where what is stored is no row.
 */
export async function findByUniqueIndex(
  context: TableContext,
  index: CompiledIndex,
  fieldValues: readonly unknown[],
  meter: ReadMeter,
  query: AnyQuery = {},
): Promise<FoundRow | undefined> {
  const { kv, model, catalog } = context;
  meter.index = index.name;
  if (!catalog.isReadable(index)) await catalog.assertReadable(index);
  const values = index.parts.map((_, i) => queriedPart(model, index, i, fieldValues[i]));
  const key = indexKey(index, values, []);
  meter.add(1);
  let entry = await kv.get(key);
  // What a writer takes for the row must not be a part of it.
  const isEnough =
    query.forWrite === false && isEntryEnough(index, query) && !catalog.snapshot.upgradesRows;
  while (entry.versionstamp !== null) {
    const primaryKey = primaryKeyOfEntry(model, index, entry.value);
    if (primaryKey === undefined) return undefined;
    if (isEnough) return heldRow(context, index, primaryKey, entry);
    const found = await findByPrimaryKey(context, primaryKey, meter, query.orAsStored);
    if (found && hasIndexKey(model, index, found.row, primaryKey, key)) return found;
    meter.add(1);
    const again = await kv.get(key);
    if (again.versionstamp === entry.versionstamp) return undefined;
    entry = again;
  }
  return undefined;
}

/** What an entry holds of a row, where that can be one with the entry's key. */
function heldRow(
  context: TableContext,
  index: CompiledIndex,
  primaryKey: readonly KvKeyPart[],
  { key, value, versionstamp, expireAt }: KvEntry<unknown>,
): FoundRow | undefined {
  const row = value as AnyRow;
  if (index.store === "copy") {
    if (!hasIndexKey(context.model, index, row, primaryKey, key)) return undefined;
    assertRow(context, row, primaryKey);
  }
  return { primaryKey, row, versionstamp, expireAt };
}
