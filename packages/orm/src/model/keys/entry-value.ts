import type { KvKey, KvKeyPart } from "@keywright/core";
import type { AnyRow, CompiledIndex, CompiledModel } from "../compiled-model.js";
import { pointerOf, primaryKeyInRow, primaryKeyOfPointer } from "./primary-key.js";

export function entryValue(
  index: CompiledIndex,
  row: AnyRow,
  primaryKey: readonly KvKeyPart[],
): unknown {
  if (index.store === "pointer") return pointerOf(primaryKey);
  if (index.store === "copy") return row;
  const included: Record<string, unknown> = {};
  for (const field of index.include) {
    if (row[field] !== undefined) included[field] = row[field];
  }
  return included;
}

/**
 * Returns the fields of a row that its entry holds: all of them in a copy, otherwise those of the
 * value and the key.
 */
export function rowInEntry(index: CompiledIndex, key: KvKey, value: AnyRow): AnyRow {
  if (index.store === "copy" || index.inKey.size === 0) return value;
  const row: Record<string, unknown> = { ...value };
  for (const [field, position] of index.inKey) row[field] = key[position];
  return row;
}

/** Returns the primary key in an entry's value. Undefined if it is not one of the model. */
export function primaryKeyOfEntry(
  model: CompiledModel,
  index: CompiledIndex,
  value: unknown,
): readonly KvKeyPart[] | undefined {
  return index.store === "pointer"
    ? primaryKeyOfPointer(model, value)
    : primaryKeyInRow(model, value);
}
