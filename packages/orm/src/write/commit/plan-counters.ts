import { type AtomicCheck, type KvMutation, KvU64 } from "@keywright/core";
import type { CatalogSnapshot } from "../../catalog/catalog-snapshot.js";
import { countedIn } from "../../catalog/counted-row.js";
import {
  type CounterAmount,
  counterAmounts,
  counterChanges,
} from "../../catalog/counter-changes.js";
import type { IndexEntry } from "../../indexes/index-entries.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { type RankedChanges, rankedChanges } from "../../ranks/place-changes.js";
import type { CountedRow, CountedRowChange } from "./counted-row-changes.js";

/** A row with its entries. */
export interface CountableRow {
  readonly row: AnyRow;
  readonly entries: readonly IndexEntry[];
}

/** A change of a row, as far as counters are concerned. */
export interface RowToCount {
  /** The row before the change, as it is stored. Undefined if there was none. */
  readonly before: CountableRow | undefined;
  /** The row after the change. Undefined if it is deleted. */
  readonly after: CountableRow | undefined;
  /** True if the row before the change expires or has expired. */
  readonly beforeExpires: boolean;
  /** True if the row after the change expires. */
  readonly afterExpires: boolean;
  /** The check on the mark that growing counters contain the row, if counters are being built. */
  readonly mark: AtomicCheck | undefined;
  /** The counters that include the row, if this is recorded for rows that expire. */
  readonly countedRow: CountedRow | undefined;
}

/** What a commit checks and writes so that the counters are right after it. */
export interface PlannedCounters {
  readonly checks: readonly AtomicCheck[];
  readonly mutations: readonly KvMutation[];
  readonly countedRow: CountedRowChange | undefined;
  /** The changes of intervals of ranked indexes. They must be found, and are not in `mutations`. */
  readonly ranked: RankedChanges;
}

/** Plans the changes of counters for a change of a row. */
export function planCounters(
  catalog: CatalogSnapshot,
  { before, after, beforeExpires, afterExpires, mark, countedRow }: RowToCount,
): PlannedCounters {
  const counted = amountsOf(catalog, after, after);
  // Of a row that expires, the record alone tells which counters include it.
  const isRecorded = countedRow !== undefined && (countedRow.until !== undefined || beforeExpires);
  const countedBefore = isRecorded
    ? countedRow.counters
    : amountsOf(catalog, before, mark?.versionstamp ? before : undefined);
  const checks: AtomicCheck[] = [];
  const changes = counterChanges(countedBefore, counted);
  const ranked = rankedChanges(changes);
  const mutations: KvMutation[] = changes
    .filter((change) => change.ranked === undefined)
    .map(({ key, by }) => ({ type: "sum", key, value: new KvU64(by) }));
  if (mark !== undefined) {
    const { key } = mark;
    checks.push(mark);
    mutations.push(
      after === undefined ? { type: "delete", key } : { type: "set", key, value: true },
    );
  }
  if (countedRow === undefined) return { checks, mutations, countedRow, ranked };
  checks.push(countedRow.check);
  const counters = afterExpires ? countedIn(catalog.entry, counted) : undefined;
  const change = { previous: countedRow.until, counters };
  return { checks, mutations, countedRow: change, ranked };
}

/** Returns what a row adds to counters. */
function amountsOf(
  { counters, growingCounters }: CatalogSnapshot,
  counted: CountableRow | undefined,
  inGrowing: CountableRow | undefined,
): CounterAmount[] {
  const amounts =
    counters === undefined ? [] : counterAmounts(counters, counted?.row, counted?.entries);
  if (growingCounters === undefined) return amounts;
  return [...amounts, ...counterAmounts(growingCounters, inGrowing?.row, inGrowing?.entries)];
}
