import type { KvKey, KvKeyPart } from "@keywright/core";
import type { RowId } from "../errors/orm-error.js";
import { InvalidQueryError } from "../errors/query-errors.js";
import { IndexKeyError } from "../errors/row-errors.js";
import type { AnyRow, CompiledModel } from "../model/compiled-model.js";
import { keyPartOf } from "./key-parts.js";

/**
 * The parts of a row's primary key.
 *
 * @throws {IndexKeyError} where a part is absent or cannot be part of a key.
 */
export function primaryKeyOf(model: CompiledModel, row: AnyRow): KvKeyPart[] {
  return primaryKeyOfValues(
    model,
    model.primaryKey.map((field) => row[field]),
  );
}

/**
 * The parts of the primary key with these values, one for each of its fields.
 *
 * @throws {IndexKeyError} where a value is absent or cannot be part of a key.
 * @throws {InvalidQueryError} for more or fewer values than it has fields.
 */
export function primaryKeyOfValues(model: CompiledModel, values: readonly unknown[]): KvKeyPart[] {
  if (values.length !== model.primaryKey.length) {
    const reason = `it has ${model.primaryKey.length} fields, and ${values.length} values were given`;
    throw new InvalidQueryError(model.name, "primaryKey", reason);
  }
  return model.primaryKey.map((field, position) => {
    const part = keyPartOf(values[position]);
    if (part !== undefined) return part;
    throw new IndexKeyError(model.name, "primaryKey", field, typeof values[position]);
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
