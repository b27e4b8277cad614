import type { AtomicCheck, KvEntry, KvKey } from "@keywright/core";
import {
  declaredCounters,
  isMaintained,
  rowCounter,
  withCounterStates,
} from "../../catalog/catalog-entry.js";
import {
  type CountingState,
  countedMarkKey,
  countedMarksPrefix,
  countingKey,
} from "../../catalog/counting-state.js";
import type { TableContext } from "../../context/table-context.js";
import { indexCounterKey, rowCounterKey } from "../../indexes/counter-keys.js";
import { isSameKey } from "../../indexes/key-parts.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { type KeyId, keyIdOf } from "../../transaction/key-id.js";
import { keyOrderOf } from "../../transaction/key-order-of.js";
import { counterChanges } from "../../write/commit/counter-changes.js";
import { commitBatch } from "../run/commit-batch.js";
import { ProgressMeter } from "../run/migration-progress.js";
import type { MigrationRun } from "../run/migration-run.js";
import { nextRows } from "../run/scan-rows.js";
import { clearPrefix } from "./drop-indexes.js";
import { expectedEntries } from "./expected-entries.js";

/** So many rows are counted at a time at the most. */
const maxCountedRows = 250;

/**
 * Builds the counters that are new to a model, beside its writers. First they go write-only; from there on a row is counted
 * by its writer, or by a batch of the build, whoever comes first, and gets a mark that it is. When no row is left, the
 * counters go readable, and the marks are taken away. Those of a model whose rows expire are not built. A row that was written
 * by hand and that an index cannot hold counts as a row, and not in that index. Where one commit cannot count a row in an
 * index, for it has too many entries there, that counter is left absent: what cannot be counted at once cannot be kept.
 *
 * @returns false where the signal stopped it; the next call goes on behind the last batch.
 * @throws {StaleSchemaError} where the database has indexes or counters that this program does not know.
 * @throws {LeaseLostError} where another runner has taken over.
 */
export async function buildCounters(context: TableContext, run: MigrationRun): Promise<boolean> {
  const { kv, model, catalog } = context;
  /** Those that this call has left absent. */
  const left = new Set<string>();
  for (;;) {
    if (run.signal?.aborted) return false;
    await run.lease.renew();
    await catalog.reload();
    catalog.snapshot.assertWritable();
    const { value: state } = await kv.get<CountingState>(countingKey(model));
    if (state !== null) {
      if (growingOf(context, state).length === 0) {
        // They were dropped before it was through.
        const operation = kv.atomic().check(catalog.snapshot.check).delete(countingKey(model));
        await run.lease.commit(operation);
      } else if (!(await runBuild(context, run, state, left))) return false;
      continue;
    }
    const begun = await beginBuild(context, run, left);
    if (begun === "stopped") return false;
    if (!begun) return true;
  }
}

/** Those counters of a build that still are what it has made them. */
function growingOf({ catalog }: TableContext, { counters }: CountingState): string[] {
  return counters.filter((name) => catalog.snapshot.counterState(name) === "write-only");
}

/** Whether there is what a counter counts: an index that has been replaced has no entries. */
function canCount({ model, catalog }: TableContext, name: string): boolean {
  const index = model.indexes.find((candidate) => candidate.name === name);
  return (
    name === rowCounter || (index !== undefined && isMaintained(catalog.snapshot.stateOf(index)))
  );
}

/** Makes the new counters write-only, from 0; false where there are none. */
async function beginBuild(
  context: TableContext,
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
  if (absent.length === 0 || entry.expires === true) {
    // Marks of a build that has ended, or of one that was given up: the model may have no counters any more.
    const isClear = await clearPrefix(context, run, countedMarksPrefix(model));
    return isClear === "stopped" ? isClear : !isClear;
  }
  // What an earlier life of the counters has left behind.
  const left: KvKey[] = [countedMarksPrefix(model)];
  for (const index of model.indexes) {
    if (absent.includes(index.name)) left.push(indexCounterKey(index, []));
  }
  for (const prefix of left) {
    const isClear = await clearPrefix(context, run, prefix);
    if (isClear === "stopped") return isClear;
    if (!isClear) return true;
  }
  const state: CountingState = { format: 1, counters: absent, after: null, rowsDone: 0 };
  const operation = kv.atomic().check(check);
  if (absent.includes(rowCounter)) operation.delete(rowCounterKey(model));
  operation
    .set(check.key, withCounterStates(entry, absent, "write-only"))
    .set(countingKey(model), state);
  await run.lease.commit(operation);
  return true;
}

/** Counts rows to the end; false where the signal stopped it. */
async function runBuild(
  context: TableContext,
  run: MigrationRun,
  begun: CountingState,
  uncountable: Set<string>,
): Promise<boolean> {
  const { model, catalog, limits } = context;
  const most = Math.max(1, Math.min(maxCountedRows, run.batchRows, limits.checks - 2));
  const meter = new ProgressMeter(model.name, [], run.onProgress);
  meter.start("building", begun.rowsDone, undefined);
  let state = begun;
  let size = most;
  for (;;) {
    if (run.signal?.aborted) return false;
    const rows = await nextRows(context, state.after, size);
    if (rows.length === 0) {
      await finish(context, run, state);
      return true;
    }
    const next = await countBatch(context, run, state, rows, uncountable);
    if (next === undefined) {
      size = Math.max(1, Math.floor(rows.length / 2));
      await catalog.reload();
      catalog.snapshot.assertWritable();
      if (growingOf(context, state).length === 0) return true;
      await run.took(0);
      continue;
    }
    size = Math.min(most, size * 2);
    state = next;
    meter.advance(state.rowsDone, undefined);
    await run.took(rows.length);
  }
}

/** Counts those rows that are not counted yet and moves the state on; undefined where a check failed. */
async function countBatch(
  context: TableContext,
  run: MigrationRun,
  state: CountingState,
  rows: readonly KvEntry<AnyRow>[],
  uncountable: Set<string>,
): Promise<CountingState | undefined> {
  const { kv, model, catalog, limits } = context;
  const { check, maintained, growingCounters } = catalog.snapshot;
  if (growingCounters === undefined) return undefined;
  const order = keyOrderOf(kv);
  const counted: { readonly row: AtomicCheck; readonly mark: KvKey }[] = [];
  const ownRows = rows.filter((row) => row.key.length === model.primaryKey.length + 1);
  const marks = ownRows.map((row) => countedMarkKey(model, row.key.slice(1)));
  const sums = new Map<KeyId, { readonly key: KvKey; by: bigint }>();
  for (let from = 0; from < ownRows.length; from += limits.keys) {
    const stored = await kv.getMany<unknown[]>(marks.slice(from, from + limits.keys));
    for (const [position, mark] of stored.entries()) {
      const row = ownRows[from + position];
      if (row === undefined || mark.versionstamp !== null) continue;
      // Whoever sets its mark meanwhile writes the row, or moves the state on.
      counted.push({ row: { key: row.key, versionstamp: row.versionstamp }, mark: mark.key });
      const entries = expectedEntries(model, maintained, row.value, row.key.slice(1));
      for (const mutation of counterChanges(model, growingCounters, undefined, entries)) {
        if (mutation.type !== "sum") continue;
        const id = keyIdOf(mutation.key, order);
        const sum = sums.get(id) ?? { key: mutation.key, by: 0n };
        sum.by++;
        sums.set(id, sum);
      }
    }
  }
  const after = rows.at(-1)?.key.slice(1) ?? state.after;
  const next: CountingState = { ...state, after, rowsDone: state.rowsDone + rows.length };
  const result = await commitBatch(run.lease, () => {
    const operation = kv.atomic().check(check);
    for (const { row, mark } of counted) operation.check(row).set(mark, true);
    for (const { key: counter, by } of sums.values()) operation.sum(counter, by);
    return operation.set(countingKey(model), next);
  });
  if (result.ok) return next;
  if (result.tooLarge !== undefined && rows.length === 1) {
    const keys = [...sums.values()].map(({ key }) => key);
    await leaveCounter(context, run, state, keys, uncountable);
  }
  return undefined;
}

/** Makes that counter absent again in which a row counts most often; that of all rows is the last. */
async function leaveCounter(
  context: TableContext,
  run: MigrationRun,
  state: CountingState,
  sums: readonly KvKey[],
  uncountable: Set<string>,
): Promise<void> {
  const { kv, model, catalog } = context;
  const { entry, check } = catalog.snapshot;
  const growing = growingOf(context, state);
  const times = (name: string): number => {
    const index = model.indexes.find((candidate) => candidate.name === name);
    if (index === undefined) return -1;
    const prefix = indexCounterKey(index, []);
    return sums.filter((key) => isSameKey(key.slice(0, prefix.length), prefix)).length;
  };
  const [most] = [...growing].sort((a, b) => times(b) - times(a));
  if (most === undefined) return;
  const counters = growing.filter((name) => name !== most);
  const operation = kv
    .atomic()
    .check(check)
    .set(check.key, withCounterStates(entry, [most], "absent"))
    .set(countingKey(model), { ...state, counters });
  if ((await run.lease.commit(operation)).ok) uncountable.add(most);
}

/** Makes the counters readable, if the catalog has not changed. */
async function finish(
  context: TableContext,
  run: MigrationRun,
  state: CountingState,
): Promise<void> {
  const { kv, model, catalog } = context;
  const { entry, check } = catalog.snapshot;
  const operation = kv
    .atomic()
    .check(check)
    .set(check.key, withCounterStates(entry, growingOf(context, state), "readable"))
    .delete(countingKey(model));
  await run.lease.commit(operation);
}
