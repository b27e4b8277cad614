import type { AtomicCheck, KvEntry, KvKey } from "@keywright/core";
import {
  type CatalogEntry,
  declaredCounters,
  isMaintained,
  storedIndexOf,
  withCounterStates,
  withFormat,
} from "../../catalog/catalog-entry.js";
import type { ModelStore } from "../../context/model-store.js";
import { expectedEntries } from "../../indexes/expected-entries.js";
import { type Counter, parseCounterName } from "../../model/aggregates/counter.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { currentTime } from "../../model/rows/time.js";
import { readStored } from "../../rows/read-rows.js";
import { buildInBatches } from "../../run/build-in-batches.js";
import { clearPrefix } from "../../run/clear-prefix.js";
import { commitBatch } from "../../run/commit-batch.js";
import type { MigrationRun } from "../../run/migration-run.js";
import { seenKey, seenPrefix } from "../build-marks.js";
import { addWrites, writesAt } from "../effects.js";
import { assertNotRanked } from "../ranks/assert-not-ranked.js";
import { placeChanges } from "../ranks/place-changes.js";
import { type RankAmount, rankAmounts } from "../ranks/rank-amounts.js";
import { levels } from "../ranks/rank-keys.js";
import { splitAll } from "../ranks/tend-ranks.js";
import { viewOf } from "../view.js";
import { countedRowsPrefix, countedUntilPrefix } from "./counted-row.js";
import { amountChanges, type CounterAmount, counterAmounts } from "./counter-amounts.js";
import { counterKey } from "./counter-keys.js";
import { type CountingState, countingKey, readCountingState } from "./counting-state.js";
import { type CountedRowRecord, recordCountedRow } from "./record-counted-row.js";

const maxCountedRows = 250;

/**
 * Builds the counters that are new to a model, beside its writers. First they become write-only.
 * From then on each row is counted by its writer or by a batch of the build, whichever comes first,
 * and gets a mark in the same commit. When all rows are counted, the counters become readable, and
 * the marks are deleted.
 *
 * A row that was written by hand and that an index cannot hold is counted as a row, but not in that
 * index. If a row has too many entries in an index to be counted by one commit, the counter of the
 * index is left absent, because writers could not maintain it either.
 *
 * @returns false if the signal stopped the build; the next call resumes after the last batch.
 * @throws {StaleSchemaError} if the database has indexes or counters that this program does not
 * know.
 */
export async function buildCounters(context: ModelStore, run: MigrationRun): Promise<boolean> {
  const { kv, model, catalog } = context;
  const uncountable = new Set<string>();
  for (;;) {
    if (run.signal?.aborted) return false;
    await run.lease.renew();
    await catalog.reload();
    catalog.snapshot.assertWritable();
    const state = await readCountingState(kv, model);
    if (state !== null) {
      if (unfinishedCounters(context, state).length === 0) {
        // All of its counters were dropped before the build ended.
        const operation = kv.atomic().check(catalog.snapshot.check).delete(countingKey(model));
        await run.lease.commit(operation);
      } else if (!(await runBuild(context, run, state, uncountable))) return false;
      continue;
    }
    const begun = await beginBuild(context, run, uncountable);
    if (begun === "stopped") return false;
    if (!begun) return true;
  }
}

function unfinishedCounters({ catalog }: ModelStore, { counters }: CountingState): string[] {
  return counters.filter((name) => catalog.snapshot.counterState(name) === "write-only");
}

/**
 * False for an index that has been replaced, which has no entries to count, and for one that is
 * still being rebuilt beside its entries.
 */
function canCount({ model, catalog }: ModelStore, name: string): boolean {
  const { index: indexName } = parseCounterName(name);
  if (indexName === undefined) return true;
  const { snapshot } = catalog;
  const index = model.indexes.find((candidate) => candidate.name === indexName);
  const isRebuilt = storedIndexOf(snapshot.entry, indexName)?.next !== undefined;
  return index !== undefined && !isRebuilt && isMaintained(snapshot.stateOf(index));
}

/** Returns false if there is nothing left to do. */
async function beginBuild(
  context: ModelStore,
  run: MigrationRun,
  uncountable: ReadonlySet<string>,
): Promise<boolean | "stopped"> {
  const { kv, model, catalog } = context;
  const { snapshot } = catalog;
  const { entry, check } = snapshot;
  const absent = declaredCounters(model).filter(
    (name) =>
      snapshot.counterState(name) === "absent" && canCount(context, name) && !uncountable.has(name),
  );
  if (absent.length === 0) {
    // A build that ended or was abandoned may have left marks, even if the model has no counters
    // now. Counters that were dropped have left records of rows that expire.
    const leftPrefixes = [seenPrefix(model)];
    if (entry.expires && !snapshot.recordsCounted) {
      leftPrefixes.push(countedRowsPrefix(model), countedUntilPrefix(model));
    }
    for (const prefix of leftPrefixes) {
      const isClear = await clearPrefix(context, run, prefix);
      if (isClear !== true) return isClear === "stopped" ? isClear : true;
    }
    return false;
  }
  // Marks and counts that an earlier build of these counters has left.
  const stalePrefixes: KvKey[] = [seenPrefix(model)];
  for (const counter of countersNamed(model, absent)) {
    if (!isOfAllRows(counter)) stalePrefixes.push(counterKey(counter, []));
  }
  for (const prefix of stalePrefixes) {
    const isClear = await clearPrefix(context, run, prefix);
    if (isClear === "stopped") return isClear;
    if (!isClear) return true;
  }
  const state: CountingState = { format: 1, counters: absent, after: null, rowsDone: 0 };
  const operation = kv.atomic().check(check);
  for (const counter of countersNamed(model, absent)) {
    if (isOfAllRows(counter)) operation.delete(counterKey(counter, []));
  }
  operation
    .set(check.key, withFormat(withNewBuild(context, entry, absent)))
    .set(countingKey(model), state);
  await run.lease.commit(operation);
  return true;
}

/** True for a counter of rows whose key is not the prefix of other keys. */
function isOfAllRows({ index, sum }: Counter): boolean {
  return index === undefined && sum === undefined;
}

/** Makes counters write-only. What records say about an earlier build of them no longer applies. */
function withNewBuild(
  { model }: ModelStore,
  entry: CatalogEntry,
  names: readonly string[],
): CatalogEntry {
  const building = withCounterStates(entry, names, "write-only");
  if (!entry.expires) return building;
  const counterBuilds = { ...entry.counterBuilds };
  for (const { prefix } of countersNamed(model, names)) {
    counterBuilds[prefix] = (counterBuilds[prefix] ?? 0) + 1;
  }
  return { ...building, counterBuilds };
}

function countersNamed({ counters }: CompiledModel, names: readonly string[]): Counter[] {
  return counters.filter(({ name }) => names.includes(name));
}

/** Counts the remaining rows. Returns false if the signal stopped it. */
async function runBuild(
  context: ModelStore,
  run: MigrationRun,
  initial: CountingState,
  uncountable: Set<string>,
): Promise<boolean> {
  const { model, catalog, limits } = context;
  const checksPerRow = catalog.snapshot.recordsCounted ? 2 : 1;
  const ranked = model.counters.filter((counter) => counter.ranked !== undefined).length;
  const fences = ranked * levels.length;
  const maxByChecks = Math.floor((limits.checks - 2 - fences) / checksPerRow);
  const state = await buildInBatches(context, run, initial, {
    indexes: [],
    maxRows: () => Math.min(maxCountedRows, maxByChecks),
    add: async (rows, current) =>
      (await countBatch(context, run, current, rows, uncountable)) ?? "smaller",
    isWanted: (current) => unfinishedCounters(context, current).length > 0,
  });
  if (state === "stopped") return false;
  if (state === "unwanted") return true;
  if (!(await splitRanks(context, run, state))) return false;
  await finish(context, run, state);
  return true;
}

/** Splits the intervals of ranked indexes, each of which was counted as one. */
async function splitRanks(
  context: ModelStore,
  run: MigrationRun,
  state: CountingState,
): Promise<boolean> {
  const afterStep = async () => {
    await run.afterBatch(0);
    return run.signal?.aborted !== true;
  };
  for (const counter of countersNamed(context.model, unfinishedCounters(context, state))) {
    if (counter.ranked === undefined) continue;
    if (!(await splitAll(context, counter, afterStep))) return false;
  }
  return true;
}

/** Returns undefined if a check failed or the batch was too large for one commit. */
async function countBatch(
  context: ModelStore,
  run: MigrationRun,
  state: CountingState,
  rows: readonly KvEntry<AnyRow>[],
  uncountable: Set<string>,
): Promise<CountingState | undefined> {
  const { kv, model, catalog } = context;
  const { snapshot } = catalog;
  const { maintained, growingCounters } = snapshot;
  if (growingCounters === undefined) return undefined;
  // A program that does not use the ORM may have written rows that expire.
  if (!snapshot.entry.expires && rows.some(({ expireAt }) => expireAt !== undefined)) {
    await catalog.recordFact("expires");
    return undefined;
  }
  if (rows.some(({ expireAt }) => expireAt !== undefined)) assertNotRanked(model);
  const counted: { readonly row: AtomicCheck; readonly mark: KvKey }[] = [];
  const records: CountedRowRecord[] = [];
  const modelRows = rows.filter((row) => row.key.length === model.primaryKey.length + 1);
  const marks = modelRows.map((row) => seenKey(model, row.key.slice(1)));
  const amounts: CounterAmount[] = [];
  const ranked: RankAmount[] = [];
  const view = viewOf(context, snapshot);
  for (const [i, mark] of (await readStored(context, marks)).entries()) {
    const row = modelRows[i];
    if (row === undefined || mark.versionstamp !== null) continue;
    // The commit need not check the mark. A writer that sets it also changes the row, and another
    // build would have taken over the lease.
    counted.push({ row: { key: row.key, versionstamp: row.versionstamp }, mark: mark.key });
    const entries = expectedEntries(model, maintained, row.value, row.key.slice(1));
    const rowAmounts = counterAmounts(growingCounters, row.value, entries);
    amounts.push(...rowAmounts);
    ranked.push(...rankAmounts(growingCounters, row.value, entries));
    if (snapshot.recordsCounted) records.push(await recordCountedRow(view, row, rowAmounts));
  }
  const changes = amountChanges([], amounts);
  const placed = await placeChanges(context, amountChanges([], ranked));
  const after = rows.at(-1)?.key.slice(1) ?? state.after;
  const next: CountingState = { ...state, after, rowsDone: state.rowsDone + rows.length };
  const result = await commitBatch(run.lease, () => {
    const operation = kv.atomic().check(snapshot.check);
    for (const { row, mark } of counted) operation.check(row).set(mark, true);
    const now = currentTime();
    for (const { checks, writes } of records) {
      operation.check(...checks);
      addWrites(operation, writesAt(writes, now), now);
    }
    for (const { key: counter, by } of changes) operation.sum(counter, by);
    operation.check(...placed.checks);
    for (const { key: interval, by } of placed.sums) operation.sum(interval, by);
    return operation.set(countingKey(model), next);
  });
  if (result.ok) return next;
  if (result.tooLarge !== undefined && rows.length === 1) {
    await abandonCounter(context, run, state, [...amounts, ...ranked], uncountable);
  }
  return undefined;
}

/** Makes the counter absent that a row changes most often. Those of all rows come last. */
async function abandonCounter(
  context: ModelStore,
  run: MigrationRun,
  state: CountingState,
  amounts: readonly (CounterAmount | RankAmount)[],
  uncountable: Set<string>,
): Promise<void> {
  const { kv, model, catalog } = context;
  const { entry, check } = catalog.snapshot;
  const growing = unfinishedCounters(context, state);
  const occurrences = (name: string): number => {
    if (parseCounterName(name).index === undefined) return -1;
    return amounts.filter(({ counter }) => counter.name === name).length;
  };
  const [largest] = [...growing].sort((a, b) => occurrences(b) - occurrences(a));
  if (largest === undefined) return;
  const counters = growing.filter((name) => name !== largest);
  const operation = kv
    .atomic()
    .check(check)
    .set(check.key, withCounterStates(entry, [largest], "absent"))
    .set(countingKey(model), { ...state, counters });
  if ((await run.lease.commit(operation)).ok) uncountable.add(largest);
}

async function finish(context: ModelStore, run: MigrationRun, state: CountingState): Promise<void> {
  const { kv, model, catalog } = context;
  const { entry, check } = catalog.snapshot;
  const operation = kv
    .atomic()
    .check(check)
    .set(check.key, withCounterStates(entry, unfinishedCounters(context, state), "readable"))
    .delete(countingKey(model));
  await run.lease.commit(operation);
}
