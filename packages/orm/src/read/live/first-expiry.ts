import { expiryKey, keepsExpiry } from "../../derived/expiry/row-expiry.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { readKeys } from "../../state/rows/read-rows.js";

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
  const { model } = context;
  if (!keepsExpiry(viewOf(context))) return rows.map(({ expireAt }) => expireAt);
  const keys = rows.map(({ primaryKey }) => expiryKey(model, primaryKey));
  return (await readKeys(context, keys)).map(({ value }) => value);
}
