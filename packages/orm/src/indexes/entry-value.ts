import type { KvKeyPart } from "@keywright/core";
import type { AnyRow, CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import { keyPartOf } from "./key-parts.js";
import { pointerOf, primaryKeyOfPointer } from "./primary-key.js";

/** Returns what an index entry stores: a pointer, the row, or the fields that it includes. */
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

/** Returns the primary key of an entry's row, or undefined if the value has no valid one. */
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
