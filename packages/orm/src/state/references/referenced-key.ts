import { type KvKeyPart, specificationOrder } from "@keywright/core";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { isSameKey, keyPartOf } from "../../model/keys/key-parts.js";
import { rowKey } from "../../model/keys/primary-key.js";
import { type KeyId, keyIdOf } from "../transaction/buffer/key-id.js";

/**
 * Returns the primary key that some fields of a row hold. If one of the fields is absent, the row
 * refers to nothing, and the result is undefined.
 */
export function referencedKey(fields: readonly string[], row: AnyRow): KvKeyPart[] | undefined {
  const parts: KvKeyPart[] = [];
  for (const field of fields) {
    const part = keyPartOf(row[field]);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return parts;
}

/** True if some fields of a row hold this primary key. */
export function isReferenceTo(
  fields: readonly string[],
  row: AnyRow,
  primaryKey: readonly KvKeyPart[],
): boolean {
  const key = referencedKey(fields, row);
  return key !== undefined && isSameKey(key, primaryKey);
}

/** True if two results of {@link referencedKey} are the same row, or both none. */
export function isSameReference(
  a: readonly KvKeyPart[] | undefined,
  b: readonly KvKeyPart[] | undefined,
): boolean {
  return a === undefined || b === undefined ? a === b : isSameKey(a, b);
}

/** Returns an id of a row for sets and maps. */
export function rowIdOf(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KeyId {
  return keyIdOf(rowKey(model, primaryKey), specificationOrder);
}
