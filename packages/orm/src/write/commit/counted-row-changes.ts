import type { AtomicCheck, KvKeyPart, KvMutation } from "@keywright/core";
import type { CatalogSnapshot } from "../../catalog/catalog-snapshot.js";
import {
  type CountedIn,
  countedRowKey,
  countedUntilKey,
  includingCounters,
} from "../../catalog/counted-row.js";
import type { CounterAmount } from "../../catalog/counter-changes.js";
import { countedRowShape, countedUntilShape } from "../../catalog/system-shapes.js";
import { systemValue } from "../../catalog/system-value.js";
import type { TableContext } from "../../context/table-context.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import { storedTime, type Time } from "../../model/rows/time.js";

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
  { kv, model }: Pick<TableContext, "kv" | "model">,
  snapshot: CatalogSnapshot,
  primaryKey: readonly KvKeyPart[],
): Promise<CountedRow> {
  const key = countedUntilKey(model, primaryKey);
  const stored = await kv.get(key);
  const check = { key, versionstamp: stored.versionstamp };
  const number = systemValue<number>(stored, countedUntilShape, model.name);
  if (number === null) return { until: undefined, counters: [], check };
  const until = storedTime(number);
  const record = await kv.get(countedRowKey(model, until, primaryKey));
  const counted = systemValue<readonly CountedIn[]>(record, countedRowShape, model.name) ?? [];
  return { until, counters: includingCounters(snapshot, counted), check };
}

/** A change of the record of the counters that include a row. */
export interface CountedRowChange {
  /** The time in the record before the change. Undefined if there was no record. */
  readonly previous: Time | undefined;
  /** The counters that include the row now. Undefined if it does not expire or was deleted. */
  readonly counters: readonly CountedIn[] | undefined;
}

/**
 * Returns the mutations that change the record.
 *
 * @param until when the row expires. Undefined if it does not expire or is deleted.
 */
export function countedRowMutations(
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
  { previous, counters }: CountedRowChange,
  until: Time | undefined,
): KvMutation[] {
  const key = countedUntilKey(model, primaryKey);
  const mutations: KvMutation[] = [];
  if (previous !== undefined && previous !== until) {
    mutations.push({ type: "delete", key: countedRowKey(model, previous, primaryKey) });
  }
  if (until !== undefined && counters !== undefined) {
    const rowKey = countedRowKey(model, until, primaryKey);
    mutations.push({ type: "set", key, value: until });
    mutations.push({ type: "set", key: rowKey, value: counters });
  } else if (previous !== undefined) mutations.push({ type: "delete", key });
  return mutations;
}
