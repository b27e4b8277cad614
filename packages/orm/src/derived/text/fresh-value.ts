import type { AnyRow } from "../../model/compiled-model.js";
import type { TextIndexDefinition } from "../../text/text-definition.js";
import { documentOf } from "./document-words.js";
import { encodeDocument } from "./format/document.js";

/**
 * Returns what is stored for the words of a row until a segment has them.
 *
 * @param expireAt in milliseconds since 1970; 0 if the row does not expire.
 */
export function freshValue(definition: TextIndexDefinition, row: AnyRow, expireAt = 0): Uint8Array {
  return encodeDocument(documentOf(definition, row, expireAt), definition.fields.length);
}
