import type { KvKeyPart } from "@keywright/core";
import type { AnyRow, CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import { keyPartOf } from "./key-parts.js";
import { pointerOf, primaryKeyOfPointer } from "./primary-key.js";

/**
 * Returns the value of a row's entries in an index: a pointer to the row, the row itself, or the
 * fields that the index includes.
 */
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
 * Returns the primary key of the row that an index entry belongs to. Undefined if the value
 * contains no valid primary key of the model.
 */
export function primaryKeyOfEntry(
  model: CompiledModel,
  index: CompiledIndex,
  value: unknown,
): readonly KvKeyPart[] | undefined {
  if (index.store === "pointer") return primaryKeyOfPointer(model, value);
  if (typeof value !== "object" || value === null) return undefined;
  const primaryKey: KvKeyPart[] = [];
  for (const field of model.primaryKey) {
    const part = keyPartOf((value as AnyRow)[field]);
    if (part === undefined) return undefined;
    primaryKey.push(part);
  }
  return primaryKey;
}
