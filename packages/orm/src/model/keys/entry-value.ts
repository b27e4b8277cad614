import type { KvKeyPart } from "@keywright/core";
import type { AnyRow, CompiledIndex, CompiledModel } from "../compiled-model.js";
import type { KeyParts } from "./key-parts.js";
import { pointerOf, primaryKeyInRow, primaryKeyOfPointer } from "./primary-key.js";

export function entryValue(
  index: CompiledIndex,
  row: AnyRow,
  primaryKey: readonly KvKeyPart[],
): unknown {
  if (index.text !== undefined) return row;
  if (index.store === "pointer") return pointerOf(primaryKey);
  if (index.store === "copy") return row;
  const included: Record<string, unknown> = {};
  for (const field of index.include) {
    if (row[field] !== undefined) included[field] = row[field];
  }
  return included;
}

/** Returns the fields that a query selects. Undefined if it selects all. */
export function selectedFields(
  select: Readonly<Record<string, unknown>> | undefined,
): readonly string[] | undefined {
  return select && Object.keys(select).filter((field) => select[field]);
}

/**
 * Returns the fields of a row that a query selects from its entry, which holds them in the value
 * and in the key. Returns the whole row if the entry holds a copy of it.
 *
 * @param fields undefined to return all fields of the value.
 */
export function rowInEntry(
  index: CompiledIndex,
  key: KeyParts,
  value: AnyRow,
  fields: readonly string[] | undefined,
): AnyRow {
  if (index.store === "copy" || fields === undefined) return value;
  const row: Record<string, unknown> = {};
  for (const field of fields) {
    const position = index.inKey.get(field);
    const part = position === undefined ? value[field] : key.partAt(position);
    if (part !== undefined) row[field] = part;
  }
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
