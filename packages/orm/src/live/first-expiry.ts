import type { FoundRow } from "../context/any-query.js";
import type { TableContext } from "../context/table-context.js";
import { readKeys } from "../query/read/rows/read-rows.js";
import { expiryKey, keepsExpiry } from "../write/commit/row-expiry.js";

/** Returns when the first of some rows expires, in milliseconds since 1970, or `Infinity`. */
export async function firstExpiry(
  context: TableContext,
  rows: readonly FoundRow[],
): Promise<number> {
  let first = Number.POSITIVE_INFINITY;
  for (const expireAt of await expiryTimes(context, rows)) {
    if (typeof expireAt === "number" && expireAt < first) first = expireAt;
  }
  return first;
}

async function expiryTimes(context: TableContext, rows: readonly FoundRow[]): Promise<unknown[]> {
  const { model, catalog } = context;
  if (!keepsExpiry(context, catalog.snapshot)) return rows.map(({ expireAt }) => expireAt);
  const keys = rows.map(({ primaryKey }) => expiryKey(model, primaryKey));
  return (await readKeys(context, keys)).map(({ value }) => value);
}
