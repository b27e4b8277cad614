import type { AnyRow } from "../../model/compiled-model.js";
import { analyzeValue } from "../../text/analyze.js";
import type { TextIndexDefinition } from "../../text/text-definition.js";
import type { TextDocument } from "./format/document.js";
import { fieldSpan } from "./format/postings.js";

/**
 * Returns the words of a row with their places.
 *
 * @throws {Error} if the stemmer of the language is not loaded. See `loadStemmer`.
 */
export function documentOf(
  { fields, analyzer }: TextIndexDefinition,
  row: AnyRow,
  expireAt = 0,
): TextDocument {
  const words = new Map<string, number[]>();
  let length = 0;
  for (let i = 0; i < fields.length; i++) {
    const value = row[fields[i]!.field];
    if (value === undefined || value === null) continue;
    for (const { word, position } of analyzeValue(value, analyzer)) {
      if (position >= fieldSpan) break;
      length++;
      const places = words.get(word);
      if (places === undefined) words.set(word, [i * fieldSpan + position]);
      else places.push(i * fieldSpan + position);
    }
  }
  return { length, expireAt, words };
}
