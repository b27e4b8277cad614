import { type RunningTransform, transformMarkKey } from "../../catalog/catalog-entry.js";
import type { TableContext } from "../../context/table-context.js";
import { readRows } from "../../query/read/read-rows.js";
import { ProgressMeter } from "../run/migration-progress.js";
import type { MigrationRun } from "../run/migration-run.js";
import { maxBatchRows } from "../run/migration-run.js";
import { countRows, nextRows } from "../run/scan-rows.js";
import { failedRowsPrefix, recordedFailures } from "./failed-rows.js";
import { type RowSource, transformBatches } from "./transform-batches.js";
import { type TransformState, transformStateKey } from "./transform-state.js";

/**
 * Runs the change of all rows of a model that the catalog says is under way, beside readers and writers. Row after row, in
 * batches, is written as what it becomes with all of its index entries, under a check of its versionstamp; a row that was
 * written since the change began is of the new schema already, so that each row is changed once, whatever was stopped or
 * killed where. A row that cannot be changed stays as it is and is recorded with the reason; the next run tries it again.
 * The change is over when no such row is left.
 *
 * @returns `"done"` also where no change is under way; `"failed-rows"` where rows are recorded as failed: the change goes on
 * with the next run.
 * @throws {LeaseLostError} where another runner has the lease.
 * @throws {StaleSchemaError} where the database has a newer schema than this program.
 */
export async function transformRows(
  context: TableContext,
  run: MigrationRun,
): Promise<"done" | "stopped" | "failed-rows"> {
  const { catalog, model } = context;
  await catalog.reload();
  const { transform } = catalog.snapshot.entry;
  if (transform === undefined) return "done";
  catalog.snapshot.assertWritable();
  const begun = await beginOrResume(context, run, transform);
  if (begun === "stopped") return "stopped";
  const retried =
    begun.failed === 0 ? begun : await transformBatches(context, run, begun, failedRows(context));
  if (retried === "stopped") return "stopped";
  const meter = new ProgressMeter(model.name, [], run.onProgress);
  meter.start("transforming", retried.rowsDone, retried.rowsTotal);
  const onBatch = (state: TransformState) => meter.advance(state.rowsDone, state.rowsTotal);
  const scanned = await transformBatches(
    context,
    run,
    retried,
    remainingRows(context, retried, onBatch),
  );
  if (scanned === "stopped") return "stopped";
  // Rows that failed may have been deleted or written since: they must not keep the change open.
  const end =
    scanned.failed === 0
      ? scanned
      : await transformBatches(context, run, scanned, failedRows(context));
  if (end === "stopped") return "stopped";
  if (end.failed > 0) return "failed-rows";
  await finish(context, run, transform);
  return "done";
}

/** The state of the change as an earlier run left it, or of one at its beginning. */
async function beginOrResume(
  context: TableContext,
  run: MigrationRun,
  { id }: RunningTransform,
): Promise<TransformState | "stopped"> {
  const { value } = await context.kv.get<TransformState>(transformStateKey(context.model));
  if (value?.id === id) return value;
  if (!(await clearFailures(context, run))) return "stopped";
  const rowsTotal = await countRows(context, run, []);
  if (rowsTotal === undefined) return "stopped";
  return { format: 1, id, after: null, rowsDone: 0, rowsTotal, failed: 0 };
}

/** Deletes what another change may have recorded; false where the signal stopped it. */
async function clearFailures(context: TableContext, run: MigrationRun): Promise<boolean> {
  const { kv, model, limits } = context;
  const limit = Math.min(maxBatchRows, limits.mutations - 1);
  for (;;) {
    const operation = kv.atomic();
    let found = 0;
    for await (const { key } of kv.list({ prefix: failedRowsPrefix(model) }, { limit })) {
      operation.delete(key);
      found++;
    }
    if (found === 0) return true;
    await run.lease.commit(operation);
    await run.took(0);
    if (run.signal?.aborted) return false;
  }
}

/** The rows that were recorded as failed. */
function failedRows(context: TableContext): RowSource {
  return {
    start: null,
    next: async (after, limit) => {
      const keys = (await recordedFailures(context, after, limit)).map((each) => each.primaryKey);
      const entries = await readRows(context, keys);
      return entries.map((entry, i) => ({ primaryKey: keys[i] ?? [], entry, isRecorded: true }));
    },
    moved: (state) => state,
    onBatch: () => undefined,
  };
}

/** The rows that no run has come to yet, and what else is stored under their prefix. */
function remainingRows(
  context: TableContext,
  { after: start }: TransformState,
  onBatch: RowSource["onBatch"],
): RowSource {
  return {
    start,
    next: async (after, limit) => {
      const entries = await nextRows(context, after, limit);
      return entries.map((entry) => ({
        primaryKey: entry.key.slice(1),
        entry,
        isRecorded: false,
      }));
    },
    moved: (state, rows, after) => ({ ...state, after, rowsDone: state.rowsDone + rows }),
    onBatch,
  };
}

/** Ends the change: all rows are of the schema. */
async function finish(
  { kv, model, catalog }: TableContext,
  { lease }: MigrationRun,
  { id }: RunningTransform,
): Promise<void> {
  for (;;) {
    const { check, entry } = catalog.snapshot;
    const { transform, ...finished } = entry;
    if (transform?.id !== id) return;
    const operation = kv
      .atomic()
      .check(check)
      .set(check.key, finished)
      .delete(transformStateKey(model))
      .delete(transformMarkKey(model, id));
    await lease.commit(operation);
    await catalog.reload();
  }
}
