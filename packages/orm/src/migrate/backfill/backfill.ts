import {
  type BackfillState,
  backfillKey,
  type UnindexedRow,
} from "../../catalog/backfill-state.js";
import type { TableContext } from "../../context/table-context.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { noteRefused, withUnindexed } from "../build/unindexed-rows.js";
import { commitBatch } from "../run/commit-batch.js";
import { ProgressMeter } from "../run/migration-progress.js";
import type { MigrationRun } from "../run/migration-run.js";
import { maxBatchRows } from "../run/migration-run.js";
import { nextRows } from "../run/scan-rows.js";
import { verifyModel } from "../verify/verify-model.js";
import { Verification } from "../verify/verify-state.js";
import { addBatch, type BackfillBatch, planBatch } from "./backfill-batch.js";
import {
  beginOrResume,
  endBackfill,
  endScan,
  type RunningBackfill,
  unfinishedIndexes,
} from "./backfill-states.js";
import { fillInPieces } from "./fill-in-pieces.js";

/** How new indexes are filled. */
export interface BackfillOptions {
  /** Looks at all rows and entries before the indexes go readable; it does without this. */
  readonly verify?: boolean | undefined;
  /** Counts the rows first, so that the progress has an end; it does without this. */
  readonly count?: boolean | undefined;
}

/**
 * Fills the indexes that are new to a model, beside its writers: all of them in one scan of the rows. First they go
 * write-only, so that writers keep them up from there on; then batch after batch of rows gets its entries, each in one
 * commit that checks the rows, the catalog and the lease, and writes down how far the scan has come (a row with more entries
 * than one commit takes gets them by several); then they go verifying,
 * and what was written is looked at; then readable, or unique-pending where rows share a unique value.
 *
 * A row that an index cannot hold is not in it, and the build goes on; {@link readUnreported} has such rows.
 *
 * @returns false where the signal stopped it; the next call goes on behind the last batch.
 * @throws {StaleSchemaError} where the database has something that this program does not know.
 * @throws {LeaseLostError} where another runner has taken over.
 */
export async function backfill(
  context: TableContext,
  run: MigrationRun,
  options: BackfillOptions = {},
): Promise<boolean> {
  const { verify = true, count = true } = options;
  for (;;) {
    let running = await beginOrResume(context, run, count);
    if (running === "stopped") return false;
    if (running === undefined) return true;
    if (!running.state.isScanned) {
      running = await scan(context, run, running);
      if (running === "stopped") return false;
      if (running === undefined) continue;
      if (verify) {
        await endScan(context, run, running);
        continue;
      }
    } else if (verify) {
      const verified = await verifyModel(context, running.indexes, run, {
        repair: true,
        partOf: running.state.id,
        rowsTotal: running.state.rowsTotal,
      });
      if (verified === "stopped") return false;
    }
    // An earlier run may have begun to verify it.
    if (!verify) await Verification.forget(context, run, running.state.id);
    await endBackfill(context, run, running);
  }
}

/** Fills indexes from all rows that are left; undefined where they changed meanwhile. */
async function scan(
  context: TableContext,
  run: MigrationRun,
  running: RunningBackfill,
): Promise<RunningBackfill | "stopped" | undefined> {
  const { model, catalog } = context;
  let { state, indexes } = running;
  const meter = new ProgressMeter(
    model.name,
    indexes.map((index) => index.name),
    run.onProgress,
  );
  meter.start("building", state.rowsDone, state.rowsTotal);
  let size = maxBatchRows;
  for (;;) {
    if (run.signal?.aborted) return "stopped";
    size = Math.min(size, batchLimit(context, run, indexes));
    const rows = await nextRows(context, state.after, size);
    const next = await fillBatch(context, run, { state, indexes }, rows);
    if (next === undefined) {
      size = Math.max(Math.floor(rows.length / 2), 1);
      await catalog.reload();
      catalog.snapshot.assertWritable();
      indexes = unfinishedIndexes(context, state);
      if (indexes.length === 0) return undefined;
      await run.took(0);
      continue;
    }
    state = next;
    if (rows.length > 0) meter.advance(state.rowsDone, state.rowsTotal);
    await run.took(rows.length);
    // Rows that came after these were read have got their entries from their writers.
    if (rows.length < size) return { state, indexes };
    size *= 2;
  }
}

/** How many rows one commit can take: a row costs a check and its entries, a unique entry up to two checks more. */
function batchLimit(
  { limits }: TableContext,
  run: MigrationRun,
  indexes: readonly CompiledIndex[],
): number {
  const checksPerRow = 1 + 2 * indexes.filter((index) => index.unique).length;
  // Beside the rows there are the catalog, the lease and the state.
  const byChecks = Math.floor((limits.checks - 2) / checksPerRow);
  const byMutations = Math.floor((limits.mutations - 2) / indexes.length);
  return Math.max(Math.min(maxBatchRows, run.batchRows, byChecks, byMutations), 1);
}

/** Writes the entries of some rows and moves the state on; undefined where a check failed. */
async function fillBatch(
  context: TableContext,
  run: MigrationRun,
  { state, indexes }: RunningBackfill,
  rows: Awaited<ReturnType<typeof nextRows>>,
): Promise<BackfillState | undefined> {
  const last = rows.at(-1);
  if (last === undefined) return state;
  const { kv, model, catalog } = context;
  const { check } = catalog.snapshot;
  const batch = await planBatch(context, indexes, rows);
  const commit = async (some: BackfillBatch) => {
    const unindexed = withUnindexed(state.unindexed, some.unindexed);
    const next: BackfillState = {
      ...state,
      after: last.key.slice(1),
      rowsDone: state.rowsDone + rows.length,
      ...(unindexed !== undefined && { unindexed }),
    };
    const result = await commitBatch(run.lease, () => {
      const operation = kv.atomic().check(check);
      addBatch(context, operation, some);
      return operation.set(backfillKey(model), next);
    });
    return { ...result, next };
  };
  const whole = await commit(batch);
  if (whole.ok) return whole.next;
  if (whole.tooLarge === undefined || rows.length > 1) return undefined;
  const refused = await fillInPieces(context, run, batch);
  if (refused === undefined) return undefined;
  const unindexed: UnindexedRow[] = [...batch.unindexed];
  if (refused.length > 0) {
    const reason = "An entry of it is too large for a commit of the database.";
    noteRefused(model, last.key.slice(1), unindexed)(refused, reason);
  }
  // The row may have changed since its last piece: then it is looked at once more.
  const end = await commit({ ...batch, entries: [], duplicates: [], unindexed });
  if (end.tooLarge !== undefined) throw end.tooLarge;
  return end.ok ? end.next : undefined;
}
