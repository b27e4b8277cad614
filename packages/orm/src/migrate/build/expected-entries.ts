import type { KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import type { TableContext } from "../../context/table-context.js";
import { IndexKeyError } from "../../errors/row-errors.js";
import { type IndexEntry, indexEntries } from "../../indexes/index-entries.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { notAnObjectReason, type OnRefused, unindexedReason } from "./unindexed-rows.js";

/**
 * Returns the entries that a stored row should have, even if it was written by hand. An index that
 * cannot hold the row's values has no entry of it. A value that is not an object has no entries.
 */
export function expectedEntries(
  model: CompiledModel,
  indexes: readonly CompiledIndex[],
  row: unknown,
  primaryKey: readonly KvKeyPart[],
  onRefused: OnRefused = () => undefined,
): IndexEntry[] {
  if (primaryKey.length !== model.primaryKey.length) return [];
  if (typeof row !== "object" || row === null || Array.isArray(row)) {
    onRefused(indexes, notAnObjectReason);
    return [];
  }
  try {
    return indexEntries(model, indexes, row as AnyRow, primaryKey);
  } catch (error) {
    if (!(error instanceof IndexKeyError)) throw error;
    if (indexes.length === 1) {
      onRefused(indexes, unindexedReason(error));
      return [];
    }
    return indexes.flatMap((index) => expectedEntries(model, [index], row, primaryKey, onRefused));
  }
}

/**
 * Reads the entries of some keys, in the order of the keys, with as few reads as the limits allow.
 */
export async function readStored(
  { kv, limits }: Pick<TableContext, "kv" | "limits">,
  keys: readonly KvKey[],
): Promise<KvEntryMaybe<unknown>[]> {
  if (keys.length === 0) return [];
  if (keys.length <= limits.keys) return await kv.getMany<unknown[]>(keys);
  const reads: Promise<KvEntryMaybe<unknown>[]>[] = [];
  for (let from = 0; from < keys.length; from += limits.keys) {
    reads.push(kv.getMany<unknown[]>(keys.slice(from, from + limits.keys)));
  }
  return (await Promise.all(reads)).flat();
}
