import type { FoundRow } from "../context/any-query.js";
import type { ReadMeter } from "../context/read-meter.js";
import type { TableContext } from "../context/table-context.js";
import { readKeys } from "../query/read/read-rows.js";
import { expiryKey, keepsExpiry } from "../write/commit/row-expiry.js";

/**
 * Returns the earliest time at which one of some rows expires, in milliseconds since 1970, or
 * `Infinity` if none expires. If the database does not report the expiry of entries, the times that
 * are stored beside the rows are read. The meter counts one read for each row, but these reads
 * never exceed its limit.
 */
export async function firstExpiry(
  context: TableContext,
  rows: readonly FoundRow[],
  meter: ReadMeter,
): Promise<number> {
  let first = Number.POSITIVE_INFINITY;
  for (const expireAt of await expiryTimes(context, rows, meter)) {
    if (typeof expireAt === "number" && expireAt < first) first = expireAt;
  }
  return first;
}

async function expiryTimes(
  context: TableContext,
  rows: readonly FoundRow[],
  meter: ReadMeter,
): Promise<unknown[]> {
  const { model, catalog } = context;
  if (!keepsExpiry(context, catalog.snapshot)) return rows.map(({ expireAt }) => expireAt);
  meter.reads += rows.length;
  const keys = rows.map(({ primaryKey }) => expiryKey(model, primaryKey));
  return (await readKeys(context, keys)).map(({ value }) => value);
}
