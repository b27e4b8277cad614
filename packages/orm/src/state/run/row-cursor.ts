import { decodeKey, encodeKey, isKeywrightError, type KvKeyPart } from "@keywright/core";
import { Buffer } from "@keywright/core/platform";
import { InvalidCursorError } from "../../errors/query-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";

export function encodeRowCursor(primaryKey: readonly KvKeyPart[]): string {
  return Buffer.from(encodeKey(primaryKey)).toString("base64url");
}

/** @throws {InvalidCursorError} if the text is not a cursor of this model. */
export function decodeRowCursor(model: CompiledModel, cursor: string): readonly KvKeyPart[] {
  try {
    const primaryKey = decodeKey(Buffer.from(String(cursor), "base64url"));
    if (primaryKey.length === model.primaryKey.length) return primaryKey;
  } catch (error) {
    if (!isKeywrightError(error)) throw error;
  }
  throw new InvalidCursorError(model.name, String(cursor));
}
