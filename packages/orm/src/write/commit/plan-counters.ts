import { type AtomicCheck, type KvKey, type KvMutation, KvU64 } from "@keywright/core";
import type { CatalogSnapshot } from "../../catalog/catalog-snapshot.js";
import { countedIn } from "../../catalog/counted-row.js";
import { counterChanges, counterKeys } from "../../catalog/counter-changes.js";
import type { IndexEntry } from "../../indexes/index-entries.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import type { CountedRow, CountedRowChange } from "./counted-row-changes.js";

type Entries = readonly IndexEntry[] | undefined;

/** A change of a row, as far as counters are concerned. */
export interface RowToCount {
  /** The entries before the change. Undefined if there was no row. */
  readonly before: Entries;
  /** The entries after the change. Undefined if the row is deleted. */
  readonly after: Entries;
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
}

/** Plans the changes of counters for a change of a row. */
export function planCounters(
  model: CompiledModel,
  catalog: CatalogSnapshot,
  { before, after, beforeExpires, afterExpires, mark, countedRow }: RowToCount,
): PlannedCounters {
  const counted = countersOf(model, catalog, after, after);
  // Of a row that expires, the record alone tells which counters include it.
  const isRecorded = countedRow !== undefined && (countedRow.until !== undefined || beforeExpires);
  const countedBefore = isRecorded
    ? countedRow.counters
    : countersOf(model, catalog, before, mark?.versionstamp ? before : undefined);
  const checks: AtomicCheck[] = [];
  const mutations: KvMutation[] = counterChanges(countedBefore, counted).map(({ key, by }) => ({
    type: "sum",
    key,
    value: new KvU64(by),
  }));
  if (mark !== undefined) {
    const { key } = mark;
    checks.push(mark);
    mutations.push(
      after === undefined ? { type: "delete", key } : { type: "set", key, value: true },
    );
  }
  if (countedRow === undefined) return { checks, mutations, countedRow };
  checks.push(countedRow.check);
  const counters = afterExpires ? countedIn(catalog.entry, counted) : undefined;
  return { checks, mutations, countedRow: { previous: countedRow.until, counters } };
}

/** Returns the keys of the counters that include a row with these entries. */
function countersOf(
  model: CompiledModel,
  { counters, growingCounters }: CatalogSnapshot,
  entries: Entries,
  entriesInGrowing: Entries,
): KvKey[] {
  const keys = counters === undefined ? [] : counterKeys(model, counters, entries);
  if (growingCounters === undefined) return keys;
  return [...keys, ...counterKeys(model, growingCounters, entriesInGrowing)];
}
