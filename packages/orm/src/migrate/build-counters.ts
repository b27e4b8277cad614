import type { KvEntry, KvKey, KvKeyPart } from "@keywright/core";
import { declaredCounters, rowCounter, withCounterStates } from "../catalog/catalog-entry.js";
import {
  type CountingState,
  countedMarkKey,
  countedMarksPrefix,
  countingKey,
} from "../catalog/counting-state.js";
import { indexCounterKey, rowCounterKey } from "../indexes/counter-keys.js";
import { indexEntries } from "../indexes/index-entries.js";
import type { AnyRow } from "../model/compiled-model.js";
import { assertObject } from "../query/found-row.js";
import type { TableContext } from "../query/table-context.js";
import { isLimitError } from "../transaction/is-limit-error.js";
import { type KeyId, keyIdOf } from "../transaction/key-id.js";
import { keyOrderOf } from "../transaction/key-order-of.js";
import { letOthersRun } from "../transaction/let-others-run.js";
import { counterChanges } from "../write/counter-changes.js";

/** A state as it was read, with the versionstamp that the next batch checks. */
interface StoredState {
  readonly state: CountingState;
  readonly versionstamp: string;
}

const maxBatchRows = 250;
const nothing: KvKeyPart = new Uint8Array();

/**
 * Builds the counters that are new to a model, beside its writers. First they go write-only; from there on a row is counted
 * by its writer, or by a batch of the build, whoever comes first, and gets a mark that it is. When no row is left, the
 * counters go readable, and the marks are taken away. Those of a model whose rows expire are not built.
 *
 * @returns false where the signal stopped it; the next call goes on behind the last batch.
 * @throws {StaleSchemaError} where the database has indexes or counters that this program does not know.
 * @throws {StoredRowInvalidError} for a row that was written by hand and is no object.
 */
export async function buildCounters(
  context: TableContext,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { catalog } = context;
  for (;;) {
    if (signal?.aborted) return false;
    await catalog.reload();
    catalog.snapshot.assertWritable();
    const stored = await readState(context);
    if (stored !== undefined) {
      if (!(await runBuild(context, stored, signal))) return false;
    } else if (!(await beginBuild(context))) return true;
  }
}

async function readState({ kv, model }: TableContext): Promise<StoredState | undefined> {
  const { value: state, versionstamp } = await kv.get<CountingState>(countingKey(model));
  return state === null ? undefined : { state, versionstamp };
}

/** Makes the new counters write-only, from 0; false where there are none. */
async function beginBuild(context: TableContext): Promise<boolean> {
  const { kv, model, catalog } = context;
  const { snapshot } = catalog;
  const { entry, check } = snapshot;
  const absent = declaredCounters(model).filter((name) => snapshot.counterState(name) === "absent");
  if (absent.length === 0 || entry.expires === true) {
    // Marks of a build that has ended.
    if (declaredCounters(model).length > 0) await clear(context, countedMarksPrefix(model));
    return false;
  }
  // What an earlier life of the counters has left behind.
  const left: KvKey[] = [countedMarksPrefix(model)];
  for (const index of model.indexes) {
    if (absent.includes(index.name)) left.push(indexCounterKey(index, []));
  }
  for (const prefix of left) if (!(await clear(context, prefix))) return true;
  const state: CountingState = { format: 1, counters: absent, after: null, rowsDone: 0 };
  const key = countingKey(model);
  const operation = kv.atomic().check(check, { key, versionstamp: null });
  if (absent.includes(rowCounter)) operation.delete(rowCounterKey(model));
  await operation
    .set(check.key, withCounterStates(entry, absent, "write-only"))
    .set(key, state)
    .commit();
  return true;
}

/** Deletes all keys with a prefix while the catalog stays as it is; false where it changed. */
async function clear({ kv, limits, catalog }: TableContext, prefix: KvKey): Promise<boolean> {
  const { check } = catalog.snapshot;
  const most = Math.min(maxBatchRows, limits.mutations);
  for (;;) {
    const keys: KvKey[] = [];
    await letOthersRun();
    for await (const { key } of kv.list({ prefix }, { limit: most })) keys.push(key);
    if (keys.length === 0) return true;
    const operation = kv.atomic().check(check);
    for (const key of keys) operation.delete(key);
    if (!(await operation.commit()).ok) return false;
  }
}

/** Counts rows to the end; false where the signal stopped it. */
async function runBuild(
  context: TableContext,
  stored: StoredState,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const most = Math.max(1, Math.min(maxBatchRows, context.limits.checks - 2));
  let current: StoredState | undefined = stored;
  let size = most;
  while (current !== undefined) {
    await letOthersRun();
    if (signal?.aborted) return false;
    const rows = await nextRows(context, current.state, size);
    if (rows.length === 0) {
      await finish(context, current);
      return true;
    }
    const next = await countRows(context, current, rows);
    size = next === undefined ? Math.max(1, Math.floor(size / 2)) : Math.min(most, size * 2);
    if (next === undefined) {
      await context.catalog.reload();
      context.catalog.snapshot.assertWritable();
    }
    current = next ?? (await readState(context));
  }
  return true;
}

async function nextRows(
  { kv, model }: TableContext,
  { after }: CountingState,
  limit: number,
): Promise<KvEntry<AnyRow>[]> {
  const prefix = [model.prefix];
  const selector = after === null ? { prefix } : { prefix, start: [...prefix, ...after, nothing] };
  const rows: KvEntry<AnyRow>[] = [];
  for await (const entry of kv.list<AnyRow>(selector, { limit, batchSize: limit }))
    rows.push(entry);
  return rows;
}

/** Counts those rows that are not counted yet and moves the state on; undefined where a check failed. */
async function countRows(
  context: TableContext,
  { state, versionstamp }: StoredState,
  rows: readonly KvEntry<AnyRow>[],
): Promise<StoredState | undefined> {
  const { kv, model, catalog, limits } = context;
  const { check, maintained, growingCounters } = catalog.snapshot;
  if (growingCounters === undefined) return undefined;
  const order = keyOrderOf(kv);
  const key = countingKey(model);
  const operation = kv.atomic().check(check, { key, versionstamp });
  const ownRows = rows.filter((row) => row.key.length === model.primaryKey.length + 1);
  const marks = ownRows.map((row) => countedMarkKey(model, row.key.slice(1)));
  const sums = new Map<KeyId, { readonly key: KvKey; by: bigint }>();
  for (let from = 0; from < ownRows.length; from += limits.keys) {
    const stored = await kv.getMany<unknown[]>(marks.slice(from, from + limits.keys));
    for (const [position, mark] of stored.entries()) {
      const row = ownRows[from + position];
      if (row === undefined || mark.versionstamp !== null) continue;
      assertObject(model, row.value, row.key.slice(1));
      // Whoever sets its mark meanwhile writes the row, or moves the state on.
      operation.check({ key: row.key, versionstamp: row.versionstamp }).set(mark.key, true);
      const entries = indexEntries(model, maintained, row.value, row.key.slice(1));
      for (const mutation of counterChanges(model, growingCounters, undefined, entries)) {
        if (mutation.type !== "sum") continue;
        const id = keyIdOf(mutation.key, order);
        const sum = sums.get(id) ?? { key: mutation.key, by: 0n };
        sum.by++;
        sums.set(id, sum);
      }
    }
  }
  for (const { key: counter, by } of sums.values()) operation.sum(counter, by);
  const after = rows.at(-1)?.key.slice(1) ?? state.after;
  const next: CountingState = { ...state, after, rowsDone: state.rowsDone + rows.length };
  try {
    const result = await operation.set(key, next).commit();
    return result.ok ? { state: next, versionstamp: result.versionstamp } : undefined;
  } catch (error) {
    // A row may have any number of entries: a batch that is too large for one commit is taken as one that failed.
    if (rows.length > 1 && isLimitError(error)) return undefined;
    throw error;
  }
}

/** Makes the counters readable; where a check failed, another run has done it, or the catalog has changed. */
async function finish(
  { kv, model, catalog }: TableContext,
  { state, versionstamp }: StoredState,
): Promise<void> {
  const { entry, check } = catalog.snapshot;
  const key = countingKey(model);
  await kv
    .atomic()
    .check(check, { key, versionstamp })
    .set(check.key, withCounterStates(entry, state.counters, "readable"))
    .delete(key)
    .commit();
}
