import { Buffer } from "node:buffer";
import { decodeKey, encodeKey, isKeywrightError, type KvKeyPart } from "@keywright/core";
import { InvalidCursorError } from "../../errors/query-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";

/** A cursor that goes on behind the row with this primary key. */
export function encodeRowCursor(primaryKey: readonly KvKeyPart[]): string {
  return Buffer.from(encodeKey(primaryKey)).toString("base64url");
}

/**
 * The primary key behind which a cursor of {@link encodeRowCursor} goes on.
 *
 * @throws {InvalidCursorError} for what is no such cursor of this model.
 */
export function decodeRowCursor(model: CompiledModel, cursor: string): readonly KvKeyPart[] {
  try {
    const primaryKey = decodeKey(Buffer.from(String(cursor), "base64url"));
    if (primaryKey.length === model.primaryKey.length) return primaryKey;
  } catch (error) {
    if (!isKeywrightError(error)) throw error;
  }
  throw new InvalidCursorError(model.name, String(cursor));
}
