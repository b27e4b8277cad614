import { encodeKey, encodeValue } from "@keywright/core";
import { Buffer } from "@keywright/core/platform";
import type { AnyQuery, FoundRow } from "../../state/context/any-query.js";

/**
 * Returns a text that differs for different results of a query. It consists of the primary keys and
 * versionstamps of the rows, in order. If the query has `select` or `include`, it is the encoded
 * result instead.
 *
 * @param shaped the result for the caller. It is not retained, so the caller may change it.
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
