import type { AtomicCheck, KvEntry, KvKeyPart } from "@keywright/core";
import type { AnyRow, CompiledModel } from "../../../model/compiled-model.js";
import { type RowExpiry, storedTime, type Time } from "../../../model/rows/time.js";
import { systemValue } from "../../../state/catalog/system-value.js";
import type { ReadView } from "../../../state/context/read-view.js";
import type { Effects, TimedWrites, Write } from "../../effects.js";
import { rowExpireAt } from "../../expiry/row-expiry.js";
import type { CounterAmount } from "../counter-amounts.js";
import {
  type CountedIn,
  countedIn,
  countedRowKey,
  countedRowShape,
  countedUntilKey,
  countedUntilShape,
  includingCounters,
} from "./counted-row.js";

/** The record of the counters that include a row that expires, as it was read. */
export interface CountedRow {
  /** Undefined if there is no record. */
  readonly until: Time | undefined;
  /** What the row adds to the counters that include it. */
  readonly counters: readonly CounterAmount[];
  /** The check that the record has not changed. */
  readonly check: AtomicCheck;
}

/** Reads the record under a primary key. The row need not exist: it may have expired. */
export async function readCountedRow(
  { kv, model, snapshot }: ReadView,
  primaryKey: readonly KvKeyPart[],
): Promise<CountedRow> {
  const key = countedUntilKey(model, primaryKey);
  const stored = await kv.get(key);
  const check = { key, versionstamp: stored.versionstamp };
  const number = systemValue(stored, countedUntilShape, model.name);
  if (number === null) return { until: undefined, counters: [], check };
  const until = storedTime(number);
  const record = await kv.get(countedRowKey(model, until, primaryKey));
  const counted = systemValue(record, countedRowShape, model.name) ?? [];
  return { until, counters: includingCounters(snapshot, counted), check };
}

/**
 * Returns the writes that change the record.
 *
 * If the row now expires earlier, they also write the counters that include it, with the same
 * values. A transaction that has read these counters then runs again, because it may have to commit
 * before the earlier time.
 *
 * @param previous the time in the record. Undefined if there is none.
 * @param expiry when the row expires. Undefined if it does not expire or is deleted.
 * @param counters the counters that include the row now. Undefined if it does not expire or is
 * deleted.
 * @param before the counters that have included the row.
 */
export function countedRowWrites(
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
  previous: Time | undefined,
  expiry: RowExpiry | undefined,
  counters: readonly CountedIn[] | undefined,
  before: readonly CounterAmount[],
): readonly (Write | TimedWrites)[] {
  const key = countedUntilKey(model, primaryKey);
  if (expiry === undefined || counters === undefined) {
    if (previous === undefined) return [];
    return [
      { type: "delete", key: countedRowKey(model, previous, primaryKey) },
      { type: "delete", key },
    ];
  }
  const writesUntil = (until: Time): Write[] => {
    const writes: Write[] = [
      { type: "set", key, value: until },
      { type: "set", key: countedRowKey(model, until, primaryKey), value: counters },
    ];
    if (previous !== undefined && previous !== until) {
      writes.push({ type: "delete", key: countedRowKey(model, previous, primaryKey) });
    }
    if (previous === undefined || until < previous) {
      for (const { key: counter } of before) writes.push({ type: "sum", key: counter, by: 0n });
    }
    return writes;
  };
  return [{ type: "timed", expiry, writesUntil }];
}

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
