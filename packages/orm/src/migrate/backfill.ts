import type {
  AtomicCheck,
  AtomicOperation,
  KvCommitError,
  KvCommitResult,
  KvEntry,
  KvKeyPart,
} from "@keywright/core";
import { encodeKey, ulid } from "@keywright/core";
import { withIndexStates } from "../catalog/catalog-entry.js";
import { StaleSchemaError } from "../errors/schema-errors.js";
import { type IndexEntry, indexEntries } from "../indexes/index-entries.js";
import type { AnyRow, CompiledIndex } from "../model/compiled-model.js";
import { assertObject } from "../query/found-row.js";
import type { TableContext } from "../query/table-context.js";
import { isLimitError } from "../transaction/is-limit-error.js";
import { letOthersRun } from "../transaction/let-others-run.js";
import { setUntil } from "../transaction/set-until.js";
import { claimUniqueKey } from "../write/claim-unique-key.js";
import { rowExpireAt } from "../write/row-expiry.js";
import {
  type BackfillState,
  backfillKey,
  type Duplicate,
  duplicateKey,
  duplicatesPrefix,
} from "./backfill-state.js";
import { type MigrationProgress, ProgressMeter } from "./migration-progress.js";

export interface BackfillOptions {
  readonly onProgress: (progress: MigrationProgress) => void;
  readonly signal: AbortSignal | undefined;
}

/** A state as it was read, with the versionstamp that the next batch checks. */
interface StoredState {
  readonly state: BackfillState;
  readonly versionstamp: string;
}

/** An index entry, which goes when its row does. */
interface ExpiringEntry {
  readonly entry: IndexEntry;
  /** When the row goes, in milliseconds since 1970; undefined where it stays. */
  readonly expireAt: number | undefined;
}

/** What a batch of rows comes to: the conditions of its commit, and what it writes. */
interface Batch {
  readonly checks: AtomicCheck[];
  readonly entries: ExpiringEntry[];
  readonly duplicates: Duplicate[];
}

const maxBatchRows = 500;
const nothing: KvKeyPart = new Uint8Array();

/**
 * Fills the indexes that are new to a model, beside its writers: all of them in one scan of the rows. First they go
 * write-only, so that writers keep them up from there on; then batch after batch of rows gets its entries, each in one
 * commit that checks the rows, the catalog and how far the scan has come, and moves it on; then they go readable, or
 * unique-pending where rows share a unique value.
 *
 * @returns false where the signal stopped it; the next call goes on behind the last batch.
 */
export async function backfill(context: TableContext, options: BackfillOptions): Promise<boolean> {
  for (;;) {
    const stored = await beginOrResume(context, options);
    if (stored === "stopped") return false;
    if (stored === undefined) return true;
    if (!(await runBackfill(context, stored, options))) return false;
  }
}

/** The state of the backfill that is under way, or of one that begins here; undefined where there is nothing to fill. */
async function beginOrResume(
  context: TableContext,
  options: BackfillOptions,
): Promise<StoredState | "stopped" | undefined> {
  const { kv, model, catalog } = context;
  const key = backfillKey(model);
  for (;;) {
    if (options.signal?.aborted) return "stopped";
    await catalog.reload();
    const { snapshot } = catalog;
    snapshot.assertWritable();
    const running = await readState(context);
    if (running !== undefined) return running;
    const absent = model.indexes.filter((index) => snapshot.stateOf(index) === "absent");
    if (absent.length === 0) return undefined;
    const rowsTotal = await countRows(context, absent, options);
    if (rowsTotal === undefined) return "stopped";
    const indexes = absent.map((index) => index.name);
    const state: BackfillState = {
      format: 1,
      id: ulid(),
      indexes,
      after: null,
      rowsDone: 0,
      rowsTotal,
    };
    const begun = await kv
      .atomic()
      .check(snapshot.check, { key, versionstamp: null })
      .set(snapshot.check.key, withIndexStates(snapshot.entry, absent, "write-only"))
      .set(key, state)
      .commit();
    if (begun.ok) {
      await catalog.reload();
      return { state, versionstamp: begun.versionstamp };
    }
  }
}

/** The state of the backfill that is under way; undefined where there is none, or another than the one asked for. */
async function readState(
  { kv, model }: TableContext,
  id?: string,
): Promise<StoredState | undefined> {
  const { value: state, versionstamp } = await kv.get<BackfillState>(backfillKey(model));
  if (state === null || (id !== undefined && state.id !== id)) return undefined;
  return { state, versionstamp };
}

/** Counts a model's rows, so that the progress has an end; undefined where the signal stopped it. */
async function countRows(
  { kv, model }: TableContext,
  indexes: readonly CompiledIndex[],
  { onProgress, signal }: BackfillOptions,
): Promise<number | undefined> {
  const names = indexes.map((index) => index.name);
  const meter = new ProgressMeter(model.name, names, onProgress);
  let rows = 0;
  for await (const _ of kv.list({ prefix: [model.prefix] }, { batchSize: maxBatchRows })) {
    rows++;
    if (rows % maxBatchRows !== 0) continue;
    await letOthersRun();
    if (signal?.aborted) return undefined;
    if (rows % 10_000 === 0) meter.counting(rows);
  }
  meter.counting(rows);
  return rows;
}

/** Runs batches to the end; false where the signal stopped it. */
async function runBackfill(
  context: TableContext,
  stored: StoredState,
  { onProgress, signal }: BackfillOptions,
): Promise<boolean> {
  const indexes = indexesOf(context, stored.state);
  const mostRows = batchLimit(context, indexes);
  const meter = new ProgressMeter(context.model.name, stored.state.indexes, onProgress);
  meter.start(stored.state.rowsDone, stored.state.rowsTotal);
  let current: StoredState | undefined = stored;
  let size = mostRows;
  while (current !== undefined) {
    await letOthersRun();
    if (signal?.aborted) return false;
    const rows = await nextRows(context, current.state, size);
    if (rows.length === 0) {
      current = await finish(context, current, indexes);
      continue;
    }
    const next = await commitBatch(context, current, indexes, rows);
    if (next !== undefined) {
      meter.building(next.state.rowsDone, next.state.rowsTotal);
      // Rows that came after these were read have got their entries from their writers.
      const isLast = rows.length < size;
      current = isLast ? await finish(context, next, indexes) : next;
      size = Math.min(size * 2, mostRows);
      continue;
    }
    // Either a writer changed one of the rows, or another run or a schema change came between.
    const hadChanged = await context.catalog.reload();
    const before: string = current.versionstamp;
    current = await readState(context, stored.state.id);
    if (!hadChanged && current?.versionstamp === before) size = Math.max(Math.floor(size / 2), 1);
  }
  return true;
}

function indexesOf({ model }: TableContext, state: BackfillState): CompiledIndex[] {
  return state.indexes.map((name) => {
    const index = model.indexes.find((candidate) => candidate.name === name);
    if (index === undefined) throw new StaleSchemaError(model.name, [name]);
    return index;
  });
}

/** How many rows one commit can take: a row costs a check and its entries, a unique entry up to two checks more. */
function batchLimit({ limits }: TableContext, indexes: readonly CompiledIndex[]): number {
  const checksPerRow = 1 + 2 * indexes.filter((index) => index.unique).length;
  const byChecks = Math.floor((limits.checks - 2) / checksPerRow);
  const byMutations = Math.floor((limits.mutations - 1) / indexes.length);
  return Math.max(Math.min(maxBatchRows, byChecks, byMutations), 1);
}

async function nextRows(
  { kv, model }: TableContext,
  { after }: BackfillState,
  limit: number,
): Promise<KvEntry<AnyRow>[]> {
  const prefix = [model.prefix];
  const selector = after === null ? { prefix } : { prefix, start: [...prefix, ...after, nothing] };
  const rows: KvEntry<AnyRow>[] = [];
  for await (const entry of kv.list<AnyRow>(selector, {
    limit,
    batchSize: limit,
  }))
    rows.push(entry);
  return rows;
}

/** Writes the entries of some rows and moves the state on; undefined where a check failed. */
async function commitBatch(
  context: TableContext,
  { state, versionstamp }: StoredState,
  indexes: readonly CompiledIndex[],
  rows: readonly KvEntry<AnyRow>[],
): Promise<StoredState | undefined> {
  const { kv, model, catalog } = context;
  const { check } = catalog.snapshot;
  const batch = await planBatch(context, indexes, rows);
  const key = backfillKey(model);
  const next: BackfillState = {
    ...state,
    after: rows.at(-1)!.key.slice(1),
    rowsDone: state.rowsDone + rows.length,
  };
  const operation = kv.atomic().check(check, { key, versionstamp }, ...batch.checks);
  const now = Date.now();
  for (const { entry, expireAt } of batch.entries) {
    operation.set(entry.key, entry.value, expireAt === undefined ? {} : setUntil(expireAt, now));
  }
  for (const duplicate of batch.duplicates) {
    operation.set(duplicateKey(model, duplicate), duplicate);
  }
  const result = await commitWithinLimits(operation.set(key, next), rows.length);
  return result.ok ? { state: next, versionstamp: result.versionstamp } : undefined;
}

/** A row may have any number of entries: a batch that is too large for one commit is taken as one that failed. */
async function commitWithinLimits(
  operation: AtomicOperation,
  rows: number,
): Promise<KvCommitResult | KvCommitError> {
  try {
    return await operation.commit();
  } catch (error) {
    if (rows > 1 && isLimitError(error)) return { ok: false };
    throw error;
  }
}

async function planBatch(
  context: TableContext,
  indexes: readonly CompiledIndex[],
  rows: readonly KvEntry<AnyRow>[],
): Promise<Batch> {
  const { model } = context;
  const batch: Batch = { checks: [], entries: [], duplicates: [] };
  /** The unique keys that rows of this batch take. */
  const taken = new Set<string>();
  for (const { key, value: row, versionstamp, ...rest } of rows) {
    const primaryKey = key.slice(1);
    if (primaryKey.length !== model.primaryKey.length) continue;
    assertObject(model, row, primaryKey);
    batch.checks.push({ key, versionstamp });
    const found = { primaryKey, expireAt: rest.expireAt };
    const expireAt = await rowExpireAt(context, context.catalog.snapshot, found);
    for (const entry of indexEntries(model, indexes, row, primaryKey)) {
      const expiring = { entry, expireAt };
      if (entry.index.unique) await planUniqueEntry(context, expiring, primaryKey, taken, batch);
      else batch.entries.push(expiring);
    }
  }
  return batch;
}

async function planUniqueEntry(
  context: TableContext,
  expiring: ExpiringEntry,
  primaryKey: readonly KvKeyPart[],
  taken: Set<string>,
  batch: Batch,
): Promise<void> {
  const { entry } = expiring;
  const text = encodeKey(entry.key).join();
  const claim = await claimUniqueKey(context, entry, primaryKey);
  if (claim.owner !== undefined || taken.has(text)) {
    const [model, index] = [context.model.name, entry.index.name];
    batch.duplicates.push({
      model,
      index,
      value: entry.key.slice(1),
      primaryKey,
    });
    return;
  }
  taken.add(text);
  batch.checks.push(...claim.checks);
  batch.entries.push(expiring);
}

/** Ends a backfill; where a check failed, the state to go on from, undefined where another run has ended it. */
async function finish(
  context: TableContext,
  { state, versionstamp }: StoredState,
  indexes: readonly CompiledIndex[],
): Promise<StoredState | undefined> {
  const { kv, model, catalog } = context;
  const { entry, check } = catalog.snapshot;
  const pending: CompiledIndex[] = [];
  const readable: CompiledIndex[] = [];
  for (const index of indexes) {
    const duplicates = kv.list({ prefix: duplicatesPrefix(model, index.name) }, { limit: 1 });
    const hasNone = (await duplicates.next()).done === true;
    (hasNone ? readable : pending).push(index);
  }
  const finished = withIndexStates(
    withIndexStates(entry, readable, "readable"),
    pending,
    "unique-pending",
  );
  const key = backfillKey(model);
  await kv
    .atomic()
    .check(check, { key, versionstamp })
    .set(check.key, finished)
    .delete(key)
    .commit();
  await catalog.reload();
  return await readState(context, state.id);
}
