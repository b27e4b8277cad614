import type { KvKey, KvKeyPart } from "@keywright/core";
import type { RowId } from "../errors/orm-error.js";
import { IndexKeyError } from "../errors/row-errors.js";
import type { AnyRow, CompiledModel } from "../model/compiled-model.js";
import { keyPartOf } from "./key-parts.js";

/**
 * The parts of a row's primary key.
 *
 * @throws {IndexKeyError} where a part is absent or cannot be part of a key.
 */
export function primaryKeyOf(model: CompiledModel, row: AnyRow): KvKeyPart[] {
  return model.primaryKey.map((field) => {
    const part = keyPartOf(row[field]);
    if (part !== undefined) return part;
    throw new IndexKeyError(model.name, "primaryKey", field, typeof row[field]);
  });
}

/** The key under which a row is stored: `["users", id]`. */
export function rowKey(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KvKey {
  return [model.prefix, ...primaryKey];
}

/** What an index entry points with: the primary key, its parts in a list where it has several. */
export function pointerOf(primaryKey: readonly KvKeyPart[]): RowId {
  return primaryKey.length === 1 ? primaryKey[0]! : [...primaryKey];
}

/** The primary key that a stored pointer names; undefined where it cannot be one of this model's. */
export function primaryKeyOfPointer(
  model: CompiledModel,
  pointer: unknown,
): readonly KvKeyPart[] | undefined {
  if (model.primaryKey.length === 1) return isKeyPart(pointer) ? [pointer] : undefined;
  if (!Array.isArray(pointer) || pointer.length !== model.primaryKey.length) return undefined;
  return pointer.every(isKeyPart) ? pointer : undefined;
}

/** Whether a value is a part of a key as it stands: not a date, which is one only as a number. */
function isKeyPart(value: unknown): value is KvKeyPart {
  return typeof value === "string" || (value !== undefined && Object.is(keyPartOf(value), value));
}
