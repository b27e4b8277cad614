import type { KvEntry, KvKey } from "@keywright/core";
import type { Counter } from "../../model/aggregates/counter.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { expectedEntries } from "../../model/keys/expected-entries.js";
import { currentTime } from "../../model/rows/time.js";
import {
  type CatalogEntry,
  isMaintained,
  storedIndexOf,
  withFormat,
} from "../../state/catalog/catalog-entry.js";
import {
  countersIn,
  type StoredCounter,
  withCounterStates,
} from "../../state/catalog/stored-counters.js";
import type { ModelStore } from "../../state/context/model-store.js";
import { viewOf } from "../../state/context/read-view.js";
import { readStored } from "../../state/rows/read-rows.js";
import { buildInBatches } from "../../state/run/build-in-batches.js";
import { clearPrefixes } from "../../state/run/clear-prefix.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import { seenKey, seenPrefix } from "../build-marks.js";
import { addWrites, Effects, writesAt } from "../effects.js";
import { assertNotRanked } from "../ranks/assert-not-ranked.js";
import { placeChanges } from "../ranks/place-changes.js";
import { type RankAmount, rankAmounts } from "../ranks/rank-amounts.js";
import { rankCost } from "../ranks/ranks.js";
import { splitRanks } from "../ranks/rebalance-ranks.js";
import {
  addAmountChanges,
  amountChanges,
  type CounterAmount,
  counterAmounts,
} from "./counter-amounts.js";
import { counterKey } from "./counter-keys.js";
import { type CountingState, countingKey, readCountingState } from "./counting-state.js";
import { countedRowsPrefix, countedUntilPrefix } from "./expired/counted-row.js";
import { recordCountedRow } from "./expired/counted-row-changes.js";
import { maintainedCounters } from "./maintained-counters.js";

const maxCountedRows = 250;

/**
 * Builds the counters and ranks that are new to a model, while others write. First they become
 * write-only. From then on each row is counted by its writer or by a batch of the build, whichever
 * comes first, and gets a mark in the same commit. When all rows are counted, intervals of ranked
 * indexes are split, the counters become readable, and the marks are deleted.
 *
 * A row that was written by hand and that an index cannot hold is counted as a row, but not in that
 * index. If a row has too many entries in an index to be counted by one commit, the counter of the
 * index is left absent, because writers could not maintain it either.
 *
 * @returns false if the signal stopped the build; the next call resumes after the last batch.
 * @throws {StaleSchemaError} if the database has indexes or counters that this program does not
 * know.
 */
export async function buildCounters(store: ModelStore, run: MigrationRun): Promise<boolean> {
  const { kv, model, catalog } = store;
  const uncountable = new Set<string>();
  for (;;) {
    if (run.signal?.aborted) return false;
    await run.lease.renew();
    await catalog.reload();
    catalog.snapshot.assertWritable();
    const state = await readCountingState(kv, model);
    if (state !== null) {
      if (unfinishedCounters(store, state).length === 0) {
        // All of its counters were dropped before the build ended.
        const operation = kv.atomic().check(catalog.snapshot.check).delete(countingKey(model));
        await run.lease.commit(operation);
      } else if (!(await runBuild(store, run, state, uncountable))) return false;
      continue;
    }
    const begun = await beginBuild(store, run, uncountable);
    if (begun === "stopped") return false;
    if (!begun) return true;
  }
}

function unfinishedCounters({ catalog }: ModelStore, { counters }: CountingState): StoredCounter[] {
  const { snapshot } = catalog;
  return counters.flatMap((name) => {
    if (snapshot.counterState(name) !== "write-only") return [];
    return countersIn(snapshot.entry).find((counter) => counter.name === name) ?? [];
  });
}

/**
 * False for an index that has been replaced, which has no entries to count, and for one whose
 * entries are still being rebuilt.
 */
function canCount({ model, catalog }: ModelStore, { index: indexName }: Counter): boolean {
  if (indexName === undefined) return true;
  const { snapshot } = catalog;
  const index = model.indexes.find((candidate) => candidate.name === indexName);
  const isRebuilt = storedIndexOf(snapshot.entry, indexName)?.next !== undefined;
  return index !== undefined && !isRebuilt && isMaintained(snapshot.stateOf(index));
}

/** Returns false if there is nothing left to do. */
async function beginBuild(
  store: ModelStore,
  run: MigrationRun,
  uncountable: ReadonlySet<string>,
): Promise<boolean | "stopped"> {
  const { kv, model, catalog } = store;
  const { snapshot } = catalog;
  const { entry, check } = snapshot;
  const absent = model.counters.filter(
    (counter) =>
      snapshot.counterState(counter.name) === "absent" &&
      canCount(store, counter) &&
      !uncountable.has(counter.name),
  );
  if (absent.length === 0) {
    // A build that ended or was abandoned may have left marks, even if the model has no counters
    // now. Counters that were dropped have left records of rows that expire.
    const leftPrefixes = [seenPrefix(model)];
    if (entry.expires && !maintainedCounters(snapshot).recordsRows) {
      leftPrefixes.push(countedRowsPrefix(model), countedUntilPrefix(model));
    }
    const isClear = await clearPrefixes(store, run, leftPrefixes);
    return isClear === "stopped" ? isClear : !isClear;
  }
  // Marks and counts that an earlier build of these counters has left.
  const stalePrefixes: KvKey[] = [seenPrefix(model)];
  for (const counter of absent) {
    if (!isOfAllRows(counter)) stalePrefixes.push(counterKey(counter, []));
  }
  const isClear = await clearPrefixes(store, run, stalePrefixes);
  if (isClear !== true) return isClear === "stopped" ? isClear : true;
  const state: CountingState = { format: 1, counters: namesOf(absent), after: null, rowsDone: 0 };
  const operation = kv.atomic().check(check);
  for (const counter of absent) {
    if (isOfAllRows(counter)) operation.delete(counterKey(counter, []));
  }
  operation.set(check.key, withFormat(withNewBuild(entry, absent))).set(countingKey(model), state);
  await run.lease.commit(operation);
  return true;
}

/** True for a counter of rows whose key is not the prefix of other keys. */
function isOfAllRows({ index, sum }: Counter): boolean {
  return index === undefined && sum === undefined;
}

/** Makes counters write-only. What records say about an earlier build of them no longer applies. */
function withNewBuild(entry: CatalogEntry, counters: readonly Counter[]): CatalogEntry {
  const building = withCounterStates(entry, counters, "write-only");
  if (!entry.expires) return building;
  const counterBuilds = { ...entry.counterBuilds };
  for (const { prefix } of counters) counterBuilds[prefix] = (counterBuilds[prefix] ?? 0) + 1;
  return { ...building, counterBuilds };
}

function namesOf(counters: readonly { readonly name: string }[]): string[] {
  return counters.map(({ name }) => name);
}

/** Counts the remaining rows. Returns false if the signal stopped it. */
async function runBuild(
  store: ModelStore,
  run: MigrationRun,
  initial: CountingState,
  uncountable: Set<string>,
): Promise<boolean> {
  const { model, catalog, limits } = store;
  const checksPerRow = maintainedCounters(catalog.snapshot).recordsRows ? 2 : 1;
  const maxByChecks = Math.floor((limits.checks - 2 - rankCost(model).checks) / checksPerRow);
  const state = await buildInBatches(store, run, initial, {
    indexes: [],
    maxRows: () => Math.min(maxCountedRows, maxByChecks),
    add: async (rows, current) =>
      (await countBatch(store, run, current, rows, uncountable)) ?? "smaller",
    isWanted: (current) => unfinishedCounters(store, current).length > 0,
  });
  if (state === "stopped") return false;
  if (state === "unwanted") return true;
  if (!(await splitRanks(store, run, unfinishedCounters(store, state)))) return false;
  await finish(store, run, state);
  return true;
}

/** Returns undefined if a check failed or the batch was too large for one commit. */
async function countBatch(
  store: ModelStore,
  run: MigrationRun,
  state: CountingState,
  rows: readonly KvEntry<AnyRow>[],
  uncountable: Set<string>,
): Promise<CountingState | undefined> {
  const { kv, model, catalog } = store;
  const { snapshot } = catalog;
  const { growing, recordsRows } = maintainedCounters(snapshot);
  if (growing === undefined) return undefined;
  // A program that does not use the ORM may have written rows that expire.
  if (!snapshot.entry.expires && rows.some(({ expireAt }) => expireAt !== undefined)) {
    await catalog.recordFact("expires");
    return undefined;
  }
  if (rows.some(({ expireAt }) => expireAt !== undefined)) assertNotRanked(model);
  const view = viewOf(store, snapshot);
  const effects = new Effects();
  const modelRows = rows.filter((row) => row.key.length === model.primaryKey.length + 1);
  const marks = modelRows.map((row) => seenKey(model, row.key.slice(1)));
  const amounts: CounterAmount[] = [];
  const ranked: RankAmount[] = [];
  for (const [i, mark] of (await readStored(store, marks)).entries()) {
    const row = modelRows[i];
    if (row === undefined || mark.versionstamp !== null) continue;
    // The commit need not check the mark. A writer that sets it also changes the row, and another
    // build would have taken over the lease.
    effects.checks.push({ key: row.key, versionstamp: row.versionstamp });
    effects.writes.push({ type: "set", key: mark.key, value: true });
    const entries = expectedEntries(model, snapshot.maintained, row.value, row.key.slice(1));
    const rowAmounts = counterAmounts(growing, row.value, entries);
    amounts.push(...rowAmounts);
    ranked.push(...rankAmounts(growing, row.value, entries));
    if (recordsRows) await recordCountedRow(view, row, rowAmounts, effects);
  }
  addAmountChanges(effects, [], amounts);
  await placeChanges(store, amountChanges([], ranked), effects);
  const after = rows.at(-1)?.key.slice(1) ?? state.after;
  const next: CountingState = { ...state, after, rowsDone: state.rowsDone + rows.length };
  const result = await run.lease.commitBatch(() => {
    const operation = kv.atomic().check(snapshot.check, ...effects.checks);
    const now = currentTime();
    addWrites(operation, writesAt(effects.writes, now), now);
    return operation.set(countingKey(model), next);
  });
  if (result.ok) return next;
  if (result.tooLarge !== undefined && rows.length === 1) {
    await abandonCounter(store, run, state, [...amounts, ...ranked], uncountable);
  }
  return undefined;
}

/** Makes the counter absent that a row changes most often. Those of all rows come last. */
async function abandonCounter(
  store: ModelStore,
  run: MigrationRun,
  state: CountingState,
  amounts: readonly (CounterAmount | RankAmount)[],
  uncountable: Set<string>,
): Promise<void> {
  const { kv, model, catalog } = store;
  const { entry, check } = catalog.snapshot;
  const growing = unfinishedCounters(store, state);
  const occurrences = ({ name, index }: StoredCounter): number => {
    if (index === undefined) return -1;
    return amounts.filter(({ counter }) => counter.name === name).length;
  };
  const [largest] = [...growing].sort((a, b) => occurrences(b) - occurrences(a));
  if (largest === undefined) return;
  const counters = namesOf(growing.filter((counter) => counter !== largest));
  const operation = kv
    .atomic()
    .check(check)
    .set(check.key, withCounterStates(entry, [largest], "absent"))
    .set(countingKey(model), { ...state, counters });
  if ((await run.lease.commit(operation)).ok) uncountable.add(largest.name);
}

async function finish(store: ModelStore, run: MigrationRun, state: CountingState): Promise<void> {
  const { kv, model, catalog } = store;
  const { entry, check } = catalog.snapshot;
  const operation = kv
    .atomic()
    .check(check)
    .set(check.key, withCounterStates(entry, unfinishedCounters(store, state), "readable"))
    .delete(countingKey(model));
  await run.lease.commit(operation);
}
