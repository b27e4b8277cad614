import type { KvKey } from "@keywright/core";
import { counterShape } from "../../catalog/system-shapes.js";
import { systemValue } from "../../catalog/system-value.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { isSameKey } from "../../indexes/key-parts.js";
import { keyText } from "../../indexes/key-text.js";
import { type ExpiredCount, listExpiredCounts, withoutRow } from "./expired-counts.js";
import { readKeys } from "./read-rows.js";
import { settleExpiredCounts } from "./settle-expired-counts.js";

/** The number of expired rows that a count reads each time rather than settle them. */
const maxUnsettled = 10;

/**
 * Returns the sum of counters. Rows that have expired and that counters still include are left out.
 * If they are many, they are first subtracted from their counters. Within a transaction this is
 * always done, because each row that a transaction reads is a check of its commit.
 */
export async function readCounters(
  context: TableContext,
  keys: readonly KvKey[],
  meter: ReadMeter,
): Promise<number> {
  meter.add(keys.length);
  const { snapshot, database } = context.catalog;
  if (!snapshot.recordsCounted) return await readSum(context, keys);
  const now = Date.now();
  const max = context.transaction === undefined ? maxUnsettled : 0;
  const first = { now, limit: max + 1 };
  let expired = await listExpiredCounts({ ...context, kv: database }, snapshot, first);
  if (expired.length > max) {
    await settleExpiredCounts(context, Number.POSITIVE_INFINITY);
    expired = await listExpiredCounts(context, snapshot, { now });
  }
  for (;;) {
    meter.reads += 2 * expired.length;
    const gone = await withoutRow(context, expired);
    const sum = await readSum(context, keys);
    if (expired.length === 0) return sum;
    // If one of the rows has been settled or replaced meanwhile, the sum may not include it.
    const again = await listExpiredCounts(context, snapshot, { now });
    if (areSame(expired, again)) return sum - occurrences(gone, keys);
    expired = again;
  }
}

async function readSum(context: TableContext, keys: readonly KvKey[]): Promise<number> {
  let sum = 0n;
  for (const entry of await readKeys(context, keys)) {
    const counter = systemValue<{ readonly value: bigint }>(
      entry,
      counterShape,
      context.model.name,
    );
    sum += counter?.value ?? 0n;
  }
  return Number(sum);
}

function areSame(before: readonly ExpiredCount[], after: readonly ExpiredCount[]): boolean {
  if (before.length !== after.length) return false;
  return before.every(({ record }, i) => {
    const other = after[i]?.record;
    return record.versionstamp === other?.versionstamp && isSameKey(record.key, other.key);
  });
}

/** Returns how often these counters include the rows. */
function occurrences(rows: readonly ExpiredCount[], keys: readonly KvKey[]): number {
  const texts = new Set(keys.map(keyText));
  return rows.flatMap(({ counters }) => counters).filter((key) => texts.has(keyText(key))).length;
}
