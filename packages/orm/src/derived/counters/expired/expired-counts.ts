import type { KvEntry, KvKey, KvKeyPart } from "@keywright/core";
import { keyAfter } from "../../../model/keys/key-parts.js";
import { keyText } from "../../../model/keys/key-text.js";
import { rowKey } from "../../../model/keys/primary-key.js";
import type { CatalogSnapshot } from "../../../state/catalog/catalog-snapshot.js";
import { systemValue } from "../../../state/catalog/system-value.js";
import type { ReadMeter } from "../../../state/context/read-meter.js";
import type { ReadView } from "../../../state/context/read-view.js";
import { readStored } from "../../../state/rows/read-rows.js";
import type { CounterAmount } from "../counter-amounts.js";
import { countedRowShape, countedRowsPrefix, includingCounters } from "./counted-row.js";

/** Usually few rows have expired since the last count, and one more tells when the next expires. */
const firstBatch = 12;
/** How far the first attempt of a transaction looks ahead. Each further one looks twice as far. */
const rowsAhead = 64;
const mostDoublings = 10;
/** In most models, one of the first rows is in the counters. */
const rowsAtOnce = 32;

type Reads = Pick<ReadView, "kv" | "model" | "limits">;

/** A row whose time is over, but that counters may still include. */
export interface ExpiredCount {
  readonly primaryKey: readonly KvKeyPart[];
  /** The check that its record has not changed, and so that counters still include it. */
  readonly record: { readonly key: KvKey; readonly versionstamp: string };
  /** What it adds to the counters that include it. */
  readonly counters: readonly CounterAmount[];
}

/** A range of {@link listExpiredCounts}. */
export interface ExpiredRange {
  /** The rows that expired at this time, in milliseconds since 1970, are the last ones. */
  readonly now: number;
  /** The row after which the range begins. */
  readonly after?: ExpiredCount | undefined;
  readonly limit?: number | undefined;
}

/**
 * Returns the rows whose time is over and that are still recorded as counted, in the order of their
 * times.
 */
export async function listExpiredCounts(
  view: Reads,
  snapshot: CatalogSnapshot,
  { now, after, limit }: ExpiredRange,
): Promise<ExpiredCount[]> {
  const { kv, model, limits } = view;
  const prefix = countedRowsPrefix(model);
  const start = after === undefined ? prefix : keyAfter(after.record.key);
  const end = [...prefix, now + 1];
  const batchSize = Math.min(limits.batchSize, limit ?? limits.batchSize);
  const options = limit === undefined ? { batchSize } : { batchSize, limit };
  const found: ExpiredCount[] = [];
  for await (const entry of kv.list({ start, end }, options)) {
    found.push(expiredCount(view, snapshot, entry));
  }
  return found;
}

/** The rows that had expired at a time, and when the next one expires. */
export interface ExpiredUntil {
  readonly expired: readonly ExpiredCount[];
  /** In milliseconds since 1970. Infinity if no other row expires. */
  readonly next: number;
}

/**
 * Returns the same as {@link listExpiredCounts}, and when the next row expires.
 *
 * @param limit the list ends after this many rows. `next` is then `now`.
 */
export async function listExpiredUntil(
  view: Reads,
  snapshot: CatalogSnapshot,
  now: number,
  limit: number = Number.POSITIVE_INFINITY,
): Promise<ExpiredUntil> {
  const { kv, model, limits } = view;
  const prefix = countedRowsPrefix(model);
  const batchSize = Math.min(limits.batchSize, firstBatch);
  const expired: ExpiredCount[] = [];
  for await (const entry of kv.list({ prefix }, { batchSize })) {
    const time = entry.key[prefix.length] as number;
    if (time > now) return { expired, next: time };
    expired.push(expiredCount(view, snapshot, entry));
    if (expired.length >= limit) return { expired, next: now };
  }
  return { expired, next: Number.POSITIVE_INFINITY };
}

/** Yields the recorded rows that expire after a time, in the order of their times. */
async function* listExpiring(
  view: Reads,
  snapshot: CatalogSnapshot,
  { after, batchSize }: { readonly after: number; readonly batchSize: number },
): AsyncGenerator<ExpiredCount> {
  const { kv, model, limits } = view;
  const prefix = countedRowsPrefix(model);
  const options = { batchSize: Math.min(limits.batchSize, batchSize) };
  for await (const entry of kv.list({ prefix, start: [...prefix, after + 1] }, options))
    yield expiredCount(view, snapshot, entry);
}

function expiredCount(
  { model }: Reads,
  snapshot: CatalogSnapshot,
  entry: KvEntry<unknown>,
): ExpiredCount {
  const { key, versionstamp } = entry;
  const primaryKey = key.slice(countedRowsPrefix(model).length + 1);
  const counted = systemValue(entry, countedRowShape, model.name)!;
  const counters = includingCounters(snapshot, counted);
  return { primaryKey, record: { key, versionstamp }, counters };
}

/**
 * Returns those of the rows that no longer exist. The database may still return a row although its
 * time is over: Deno KV removes it later, and the clocks of two processes may differ.
 */
export async function withoutRow(
  view: Reads,
  expired: readonly ExpiredCount[],
): Promise<ExpiredCount[]> {
  const keys = expired.map(({ primaryKey }) => rowKey(view.model, primaryKey));
  const rows = await readStored(view, keys);
  return expired.filter((_, i) => rows[i]?.versionstamp === null);
}

/**
 * Reads, within a transaction, the row that expires next among those that some counters include.
 * Its commit checks the row, and therefore fails from the time at which the counters have one row
 * less. If none of the next rows is in the counters, the last one of them is read.
 *
 * The records are those of the newest state, and the transaction does not check them. A change of
 * a row that can make the row expire earlier changes the counters too: see `countedRowWrites`.
 *
 * @param now milliseconds since 1970. Rows that have expired by then are left out.
 * @returns rows that have expired already, by a clock of the database that is ahead.
 */
export async function readNextToExpire(
  view: ReadView,
  counters: readonly { readonly key: KvKey }[],
  now: number,
  meter: ReadMeter,
): Promise<ExpiredCount[]> {
  const { kv, model, snapshot, store, attempt } = view;
  const keys = new Set(counters.map(({ key }) => keyText(key)));
  const last = rowsAhead * 2 ** Math.min(attempt - 1, mostDoublings);
  let listed = 0;
  const expired: ExpiredCount[] = [];
  let until = Number.POSITIVE_INFINITY;
  for await (const next of listExpiring(store, snapshot, { after: now, batchSize: rowsAtOnce })) {
    // A row may live longer than its record says, so others can expire before it.
    if ((next.record.key[countedRowsPrefix(model).length] as number) >= until) break;
    const isCounted = next.counters.some(({ key }) => keys.has(keyText(key)));
    if (++listed !== last && !isCounted) continue;
    meter.reads += 2;
    const row = await kv.get(rowKey(model, next.primaryKey));
    if (row.versionstamp !== null) until = Math.min(until, row.expireAt ?? 0);
    // The transaction has no record of a row that it has deleted, or that is newer than its state.
    else if ((await kv.get(next.record.key)).versionstamp !== null) expired.push(next);
  }
  return expired;
}
