import type { KvEntry } from "@keywright/core";
import type { AnyRow } from "../../../model/compiled-model.js";
import { storedTime } from "../../../model/rows/time.js";
import type { ReadView } from "../../../state/context/read-view.js";
import type { Effects } from "../../effects.js";
import { rowExpireAt } from "../../expiry/row-expiry.js";
import type { CounterAmount } from "../counter-amounts.js";
import { countedIn } from "./counted-row.js";
import { countedRowWrites, readCountedRow } from "./counted-row-changes.js";

/**
 * Adds the record of the counters that include a row that expires. Those that included it before
 * the commit still include it.
 *
 * @param added what the row adds to counters that now include it too.
 */
export async function recordCountedRow(
  view: ReadView,
  { key, expireAt: storedExpireAt }: KvEntry<AnyRow>,
  added: readonly CounterAmount[],
  effects: Effects,
): Promise<void> {
  const { model, snapshot } = view;
  const primaryKey = key.slice(1);
  const stored = { primaryKey, expireAt: storedTime(storedExpireAt) };
  const { until, counters, check } = await readCountedRow(view, primaryKey);
  const expireAt = await rowExpireAt(view, stored);
  const expiry = expireAt === undefined ? undefined : { expireAt };
  const all = countedIn(snapshot.entry, [...counters, ...added]);
  const writes = countedRowWrites(model, primaryKey, until, expiry, all, []);
  if (writes.length === 0) return;
  effects.checks.push(check);
  effects.writes.push(...writes);
}
