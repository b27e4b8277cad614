import type { KvKey } from "@keywright/core";
import { counterShape } from "../../catalog/system-shapes.js";
import { systemValue } from "../../catalog/system-value.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { isSameKey } from "../../indexes/key-parts.js";
import { keyText } from "../../indexes/key-text.js";
import {
  type ExpiredCount,
  listExpiredCounts,
  withoutRow,
} from "../read/expired/expired-counts.js";
import { settleExpiredCounts } from "../read/expired/settle-expired-counts.js";
import { readStored } from "../read/rows/read-rows.js";

/** The number of expired rows that a count reads each time rather than settle them. */
const maxUnsettled = 10;

/** A counter as it was read. */
export interface StoredCounter {
  readonly key: KvKey;
  /** 64 bits. 0 if the counter does not exist. */
  readonly value: bigint;
}

/** Returns the sum of counters of rows, without rows that have expired. */
export async function readCounters(
  context: TableContext,
  keys: readonly KvKey[],
  meter: ReadMeter,
): Promise<number> {
  const counters = await withoutExpired(context, meter, () => readKeys(context, keys, meter));
  return Number(counters.reduce((sum, { value }) => sum + BigInt.asIntN(64, value), 0n));
}

/** Reads counters by their keys. */
export async function readKeys(
  context: TableContext,
  keys: readonly KvKey[],
  meter: ReadMeter,
): Promise<StoredCounter[]> {
  meter.add(keys.length);
  const entries = await readStored(context, keys);
  return entries.map((entry) => storedCounter(context, entry));
}

type Entry = Parameters<typeof systemValue>[0];

export function storedCounter({ model }: TableContext, entry: Entry): StoredCounter {
  const counter = systemValue<{ readonly value: bigint }>(entry, counterShape, model.name);
  return { key: entry.key, value: counter?.value ?? 0n };
}

/**
 * Returns counters without what they still include of rows that have expired. If these rows are
 * many, they are first subtracted from their counters. Within a transaction this is always done,
 * because each row that a transaction reads is a check of its commit.
 *
 * @param read reads the counters. Called again if rows are settled or replaced meanwhile.
 */
export async function withoutExpired(
  context: TableContext,
  meter: ReadMeter,
  read: () => Promise<StoredCounter[]>,
): Promise<StoredCounter[]> {
  const { snapshot, database } = context.catalog;
  if (!snapshot.recordsCounted) return await read();
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
    const counters = await read();
    if (expired.length === 0) return counters;
    // If one of the rows has been settled or replaced meanwhile, the counters may not include it.
    const again = await listExpiredCounts(context, snapshot, { now });
    if (areSame(expired, again)) return subtract(counters, gone);
    expired = again;
  }
}

function areSame(before: readonly ExpiredCount[], after: readonly ExpiredCount[]): boolean {
  if (before.length !== after.length) return false;
  return before.every(({ record }, i) => {
    const other = after[i]?.record;
    return record.versionstamp === other?.versionstamp && isSameKey(record.key, other.key);
  });
}

function subtract(
  counters: readonly StoredCounter[],
  rows: readonly ExpiredCount[],
): StoredCounter[] {
  const amounts = new Map<string, bigint>();
  for (const { key, by } of rows.flatMap((row) => row.counters)) {
    const text = keyText(key);
    amounts.set(text, (amounts.get(text) ?? 0n) + by);
  }
  return counters.map(({ key, value }) => {
    const amount = amounts.get(keyText(key)) ?? 0n;
    return { key, value: BigInt.asUintN(64, value - amount) };
  });
}
