import type { KvKey, KvKeyPart } from "@keywright/core";
import type { RowId } from "../../errors/orm-error.js";
import { IndexKeyError } from "../../errors/row-errors.js";
import type { AnyRow, CompiledModel } from "../compiled-model.js";
import { keyPartOf } from "./key-parts.js";

export function primaryKeyOf(model: CompiledModel, row: AnyRow): KvKeyPart[] {
  return model.primaryKey.map((field) => {
    const part = keyPartOf(row[field]);
    if (part === undefined)
      throw new IndexKeyError(model.name, "primaryKey", field, typeof row[field]);
    return part;
  });
}

/** Returns the primary key in a stored value. Undefined if the value has none. */
export function primaryKeyInRow(
  model: CompiledModel,
  value: unknown,
): readonly KvKeyPart[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const primaryKey: KvKeyPart[] = [];
  for (const field of model.primaryKey) {
    const part = keyPartOf((value as AnyRow)[field]);
    if (part === undefined) return undefined;
    primaryKey.push(part);
  }
  return primaryKey;
}

export function rowKey(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KvKey {
  return [model.place, ...primaryKey];
}

export function pointerOf(primaryKey: readonly KvKeyPart[]): RowId {
  return primaryKey.length === 1 ? primaryKey[0]! : [...primaryKey];
}

/** Returns the key parts of an id, the reverse of {@link pointerOf}. */
export function partsOfId(id: RowId): readonly KvKeyPart[] {
  return isPartList(id) ? id : [id];
}

function isPartList(id: RowId): id is readonly KvKeyPart[] {
  return Array.isArray(id);
}

/** Returns the primary key in a stored pointer, or undefined if it cannot be one of this model. */
export function primaryKeyOfPointer(
  model: CompiledModel,
  pointer: unknown,
): readonly KvKeyPart[] | undefined {
  if (model.primaryKey.length === 1) return isKeyPart(pointer) ? [pointer] : undefined;
  if (!Array.isArray(pointer) || pointer.length !== model.primaryKey.length) return undefined;
  return pointer.every(isKeyPart) ? pointer : undefined;
}

/** True for a key part as it is. A date is not one, because a key holds it as a number. */
function isKeyPart(value: unknown): value is KvKeyPart {
  return typeof value === "string" || (value !== undefined && Object.is(keyPartOf(value), value));
}
