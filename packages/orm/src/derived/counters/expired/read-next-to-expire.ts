import type { KvKey } from "@keywright/core";
import { keyText } from "../../../model/keys/key-text.js";
import { rowKey } from "../../../model/keys/primary-key.js";
import type { ReadMeter } from "../../../state/context/read-meter.js";
import type { ReadView } from "../../../state/context/read-view.js";
import { countedRowsPrefix } from "./counted-row.js";
import { type ExpiredCount, listExpiring } from "./expired-counts.js";

/** How far the first attempt of a transaction looks ahead. Each further one looks twice as far. */
const rowsAhead = 64;
const mostDoublings = 10;
/** In most models, one of the first rows is in the counters. */
const batchSize = 32;

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
  for await (const next of listExpiring(store, snapshot, { after: now, batchSize })) {
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
