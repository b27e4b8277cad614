import { fieldsOfDefinition, isMadeByFunctions } from "./compile-stored-index.js";
import { canonicalJson } from "./hash.js";
import type { IndexManifest, RowManifest } from "./manifest.js";

type Fields = RowManifest["fields"];

/**
 * True if a program that does not declare an index can maintain it: its definition is data, and the
 * program and the database have the same fields, or only the database has a field that rows may
 * lack. Rows of the program then lack it, and rows of other programs keep it.
 */
export function isMaintainedByData(
  index: IndexManifest,
  ofProgram: Fields,
  ofDatabase: Fields,
): boolean {
  if (isMadeByFunctions(index)) return false;
  return fieldsOfDefinition(index).every((field) => {
    if (!Object.hasOwn(ofDatabase, field)) return false;
    return Object.hasOwn(ofProgram, field)
      ? isSameField(field, ofProgram, ofDatabase)
      : ofDatabase[field]!.optional;
  });
}

export function isSameField(field: string, a: Fields, b: Fields): boolean {
  if (!Object.hasOwn(a, field) || !Object.hasOwn(b, field)) return false;
  return canonicalJson(a[field]) === canonicalJson(b[field]);
}
