import type { KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import { IndexKeyError } from "../../errors/row-errors.js";
import type { CompiledIndex, CompiledModel } from "../compiled-model.js";
import { isRow } from "../rows/stored-row.js";
import { hasIndexKey, type IndexEntry, indexEntries } from "./index-entries.js";

/** Called with the indexes that cannot hold a row, and the reason. */
export type OnRefused = (indexes: readonly CompiledIndex[], reason: string) => void;

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
  if (!isRow(row)) {
    onRefused(indexes, "The stored value is not an object.");
    return [];
  }
  try {
    return indexEntries(model, indexes, row, primaryKey);
  } catch (error) {
    if (!(error instanceof IndexKeyError)) throw error;
    if (indexes.length > 1) {
      return indexes.flatMap((one) => expectedEntries(model, [one], row, primaryKey, onRefused));
    }
    onRefused(indexes, refusedReason(error));
    return [];
  }
}

function refusedReason({ field, valueType, cause }: IndexKeyError): string {
  if (cause instanceof Error) return `${field}: ${cause.message}`;
  return `${field} is of type ${valueType}, which no key can hold.`;
}

/** True if the stored value is a row that has this key in the index. */
export function rowHasKey(
  model: CompiledModel,
  index: CompiledIndex,
  key: KvKey,
  primaryKey: readonly KvKeyPart[],
  { value }: KvEntryMaybe<unknown>,
): boolean {
  return isRow(value) && hasIndexKey(model, index, value, primaryKey, key);
}
