import { expiryKey, keepsExpiry } from "../../derived/expiry/row-expiry.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { ReadView } from "../../state/context/read-view.js";
import { readKeys } from "../../state/rows/read-rows.js";

/** Returns when the first of some rows expires, in milliseconds since 1970, or `Infinity`. */
export async function firstExpiry(view: ReadView, rows: readonly FoundRow[]): Promise<number> {
  let first = Number.POSITIVE_INFINITY;
  for (const expireAt of await expiryTimes(view, rows)) {
    if (typeof expireAt === "number" && expireAt < first) first = expireAt;
  }
  return first;
}

async function expiryTimes(view: ReadView, rows: readonly FoundRow[]): Promise<unknown[]> {
  const { model } = view;
  if (!keepsExpiry(view)) return rows.map(({ expireAt }) => expireAt);
  const keys = rows.map(({ primaryKey }) => expiryKey(model, primaryKey));
  return (await readKeys(view, keys)).map(({ value }) => value);
}
