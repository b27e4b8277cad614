import type { Counter } from "../../model/aggregates/counter.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import type { IndexEntry } from "../../model/keys/index-entries.js";
import { isMaintained } from "../../state/catalog/catalog-entry.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import type { ReadView } from "../../state/context/read-view.js";
import type { IndexedRow } from "../derived.js";

/** Counters of a model, with those that have ranks. */
export interface CounterSet {
  /** Counts and sums of the whole model. */
  readonly rows: readonly Counter[];
  /** The counters of the keys of indexes. */
  readonly indexes: ReadonlyMap<CompiledIndex, readonly Counter[]>;
}

/** The counters that every write maintains. */
export interface MaintainedCounters {
  /** Those that include every row. */
  readonly complete: CounterSet | undefined;
  /** Those that are being built. They include only rows with a mark: see `seenKey`. */
  readonly growing: CounterSet | undefined;
  /** True if a ranked index is maintained. */
  readonly hasRanks: boolean;
  /** True if it is recorded which counters include a row that expires: see `countedRowKey`. */
  readonly recordsRows: boolean;
}

const known = new WeakMap<CatalogSnapshot, MaintainedCounters>();

export function maintainedCounters(snapshot: CatalogSnapshot): MaintainedCounters {
  const before = known.get(snapshot);
  if (before !== undefined) return before;
  const { writeModel, entry } = snapshot;
  const stateOf = ({ name }: Counter) => snapshot.counterState(name);
  const counters = writeModel.counters.filter((counter) => isMaintained(stateOf(counter)));
  const isComplete = (counter: Counter) => ["readable", "disabled"].includes(stateOf(counter));
  const maintained = {
    complete: setOf(writeModel, counters.filter(isComplete)),
    growing: setOf(
      writeModel,
      counters.filter((counter) => !isComplete(counter)),
    ),
    hasRanks: counters.some(({ isRanked }) => isRanked),
    recordsRows: entry.expires === true && counters.length > 0,
  };
  known.set(snapshot, maintained);
  return maintained;
}

function setOf(model: CompiledModel, counters: readonly Counter[]): CounterSet | undefined {
  if (counters.length === 0) return undefined;
  const indexes = new Map<CompiledIndex, readonly Counter[]>();
  for (const index of model.indexes) {
    const ofIndex = counters.filter((counter) => counter.index === index.name);
    if (ofIndex.length > 0) indexes.set(index, ofIndex);
  }
  return { rows: counters.filter((counter) => counter.index === undefined), indexes };
}

/**
 * Returns what a row adds to the counters that are maintained.
 *
 * @param isSeen true if also the counters that are being built include the row.
 * @param amountsIn returns what the row adds to some of them.
 */
export function maintainedAmounts<Amount>(
  { snapshot }: ReadView,
  indexed: IndexedRow | undefined,
  isSeen: boolean,
  amountsIn: (counters: CounterSet, row: AnyRow, entries: readonly IndexEntry[]) => Amount[],
): Amount[] {
  if (indexed === undefined) return [];
  const { complete, growing } = maintainedCounters(snapshot);
  const { row, entries } = indexed;
  const amounts = complete === undefined ? [] : amountsIn(complete, row, entries);
  if (growing === undefined || !isSeen) return amounts;
  return [...amounts, ...amountsIn(growing, row, entries)];
}

/** True if counters need all entries of a changed row, also those that stay the same. */
export function countersNeedAllEntries(snapshot: CatalogSnapshot): boolean {
  const { growing, recordsRows } = maintainedCounters(snapshot);
  return growing !== undefined || recordsRows;
}

/** Returns the fields whose sums are maintained for the keys of an index. */
export function summedFields(snapshot: CatalogSnapshot, index: CompiledIndex): readonly string[] {
  const own = index.sums.map(({ field }) => field);
  const { complete, growing } = maintainedCounters(snapshot);
  if (complete === undefined && growing === undefined) return own;
  const counters = [complete, growing].flatMap((set) => set?.indexes.get(index) ?? []);
  return [...own, ...counters.flatMap(({ sum }) => sum?.field ?? [])];
}
