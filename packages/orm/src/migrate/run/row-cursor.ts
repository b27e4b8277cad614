import { Buffer } from "node:buffer";
import { decodeKey, encodeKey, isKeywrightError, type KvKeyPart } from "@keywright/core";
import { InvalidCursorError } from "../../errors/query-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";

/** Returns the cursor of a page that begins after the row with this primary key. */
export function encodeRowCursor(primaryKey: readonly KvKeyPart[]): string {
  return Buffer.from(encodeKey(primaryKey)).toString("base64url");
}

/**
 * Returns the primary key after which the page of a cursor from {@link encodeRowCursor} begins.
 *
 * @throws {InvalidCursorError} if the text is not such a cursor, or if its primary key does not
 * have as many key parts as the model's.
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
