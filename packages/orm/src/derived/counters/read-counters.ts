import type { KvEntryMaybe, KvKey, KvListedEntry } from "@keywright/core";
import { keyText } from "../../model/keys/key-text.js";
import { awaitAll } from "../../promises/await-all.js";
import { systemValue } from "../../state/catalog/system-value.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { readStored } from "../../state/rows/read-rows.js";
import { counterShape } from "./counter-keys.js";
import {
  type ExpiredCount,
  listExpiredCounts,
  listExpiredUntil,
  readNextToExpire,
  withoutRow,
} from "./expired/expired-counts.js";
import { subtractExpiredRows } from "./expired/subtract-expired-rows.js";
import { maintainedCounters } from "./maintained-counters.js";

/** The number of expired rows that a count reads each time rather than subtract them. */
const maxExpired = 10;
/** How often the counters are read if rows expire while they are read. */
const maxTries = 3;

export interface CounterValue {
  readonly key: KvKey;
  /** 64 bits. 0 if the counter does not exist. */
  readonly value: bigint;
  /** Null if the counter does not exist. */
  readonly versionstamp: string | null;
}

/**
 * Reads counters, and other keys at the same time. All are from one state of the database, if the
 * view has one or if they are one request.
 */
export type CounterRead = (
  others: readonly KvKey[],
) => Promise<readonly [CounterValue[], readonly Entry[]]>;

type Entry = KvEntryMaybe<unknown>;

/** Returns the sum of counters of rows, without rows that have expired. */
export async function readCounters(
  view: ReadView,
  keys: readonly KvKey[],
  meter: ReadMeter,
): Promise<number> {
  const counters = await readCounterValues(view, keys, meter);
  return Number(counters.reduce((sum, { value }) => sum + BigInt.asIntN(64, value), 0n));
}

/** Reads counters by their keys, without rows that have expired. */
export function readCounterValues(
  view: ReadView,
  keys: readonly KvKey[],
  meter: ReadMeter,
): Promise<CounterValue[]> {
  return withoutExpired(view, meter, async (others) => {
    meter.add(keys.length);
    const entries = await readStored(view, [...keys, ...others]);
    const counters = entries.slice(0, keys.length).map((entry) => counterValue(view, entry));
    return [counters, entries.slice(keys.length)];
  });
}

export function counterValue({ model }: ReadView, entry: Entry | KvListedEntry): CounterValue {
  const counter = systemValue(entry, counterShape, model.name);
  return {
    key: entry.key,
    value: counter?.value ?? 0n,
    versionstamp: entry.versionstamp,
  };
}

/**
 * Returns counters without what they still include of rows that have expired. If these rows are
 * many, they are first subtracted from their counters. A transaction on a database that checks no
 * ranges always does this, because it can check few keys, and each row that it reads is one.
 *
 * If a row expires while the counters are read, they are read again, so that they have the rows of
 * one moment. If rows expire all the time, the third result is returned. It may include rows that
 * have expired while it was read. Within a transaction, the commit fails if a row has expired
 * since.
 *
 * Another program may have written the first row of the model that expires since the catalog was
 * read. So until the catalog says that rows expire, its entry is read too, unless it is known from
 * the last write of the counters.
 *
 * @param read reads the counters. Called again if rows expire, are subtracted or are replaced
 * during the read.
 */
export async function withoutExpired(
  view: ReadView,
  meter: ReadMeter,
  read: CounterRead,
): Promise<CounterValue[]> {
  if (!maintainedCounters(view.snapshot).recordsRows) {
    const catalogKey = view.snapshot.check.key;
    // Without a server, a second read takes less time than another key in each first one.
    const isReadAfter = view.isInSnapshot || view.capabilities.lastVersionstamp !== undefined;
    const [counters, [stored]] = await read(isReadAfter ? [] : [catalogKey]);
    if (isReadAfter && view.isCurrentFor(counters)) return counters;
    const entry = stored ?? (await view.kv.get(catalogKey));
    if (!(await view.learnsOfExpiry(entry, isReadAfter ? counters : []))) return counters;
  }
  const { snapshot, store, capabilities, isInTransaction } = view;
  if (view.isInSnapshot) return await readInState(view, meter, read);
  const max = isInTransaction && !capabilities.checksRanges ? 0 : maxExpired;
  const list = () => listExpiredUntil(view, snapshot, Date.now());
  let listed = await listExpiredUntil(store, snapshot, Date.now(), max + 1);
  if (listed.expired.length > max) {
    await subtractExpiredRows(store, Number.POSITIVE_INFINITY);
    if (!isInTransaction && !view.isOneState) listed = await list();
  }
  if (isInTransaction || view.isOneState) {
    return await readInState(view, meter, read);
  }
  for (let tries = 1; ; tries++) {
    const { expired, next } = listed;
    meter.reads += 2 * expired.length;
    const gone = await withoutRow(view, expired);
    const [counters] = await read([]);
    if (expired.length === 0 && Date.now() < next) return counters;
    listed = await list();
    const isCurrent = listed.expired.length === expired.length || tries >= maxTries;
    // If one of the rows was subtracted or replaced during the read, the counters may not include
    // it.
    if (isCurrent && areIn(listed.expired, expired)) return subtract(counters, gone);
  }
}

/** Reads counters without expired rows, in one state or in a transaction. */
async function readInState(
  view: ReadView,
  meter: ReadMeter,
  read: CounterRead,
): Promise<CounterValue[]> {
  // The first of these reads may be the one whose state the call reads. It may be from before or
  // after a subtraction. What has expired in it has expired by now.
  const [counters] = await read([]);
  const now = Date.now();
  const [expired, early = []] = await awaitAll([
    listExpiredCounts(view, view.snapshot, { now }),
    view.isInTransaction ? readNextToExpire(view, counters, now, meter) : undefined,
  ]);
  meter.reads += 2 * expired.length;
  return subtract(counters, [...(await withoutRow(view, expired)), ...early]);
}

/** True if a list still has all of the rows that had expired before. */
function areIn(listed: readonly ExpiredCount[], before: readonly ExpiredCount[]): boolean {
  const records = new Map(
    listed.map(({ record: { key, versionstamp } }) => [keyText(key), versionstamp]),
  );
  return before.every(
    ({ record: { key, versionstamp } }) => records.get(keyText(key)) === versionstamp,
  );
}

function subtract(
  counters: readonly CounterValue[],
  rows: readonly ExpiredCount[],
): CounterValue[] {
  const amounts = new Map<string, bigint>();
  for (const { key, by } of rows.flatMap((row) => row.counters)) {
    const text = keyText(key);
    amounts.set(text, (amounts.get(text) ?? 0n) + by);
  }
  return counters.map(({ key, value, versionstamp }) => {
    const amount = amounts.get(keyText(key)) ?? 0n;
    return { key, versionstamp, value: BigInt.asUintN(64, value - amount) };
  });
}
