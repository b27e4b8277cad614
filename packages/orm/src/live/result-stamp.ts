import { Buffer } from "node:buffer";
import { encodeKey, encodeValue } from "@keywright/core";
import type { AnyQuery, FoundRow } from "../context/any-query.js";

/**
 * What tells one result of a query from another: which rows it has, in which order, and their versionstamps. Where it has
 * only some of their fields, or rows of other models beside them, it is what the result holds.
 *
 * @param shaped the result as the caller is to have it. Nothing of it is kept: the caller may change it.
 */
export function stampOf(query: AnyQuery, rows: readonly FoundRow[], shaped: unknown): string {
  if (query.select !== undefined || query.include !== undefined) return textOf(encodeValue(shaped));
  return rows
    .map(({ primaryKey, versionstamp }) => {
      const key = textOf(encodeKey(primaryKey));
      return `${versionstamp} ${key.length} ${key}`;
    })
    .join("");
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}
