import { countStoredRows } from "../../derived/counters/count-stored-rows.js";
import type { AnyRow } from "../../model/compiled-model.js";
import {
  type RunningTransform,
  transformMarkKey,
  transformsOf,
} from "../../state/catalog/catalog-entry.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { readRows } from "../../state/rows/read-rows.js";
import { changeCatalog } from "../../state/run/change-catalog.js";
import { clearRecords } from "../../state/run/clear-prefix.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import { readEntriesAfter } from "../../state/run/read-entries-after.js";
import { failedRowsPrefix, readRecordedFailures } from "./failed-rows.js";
import { type RowSource, transformBatches } from "./transform-batches.js";
import { readTransformState, type TransformState, transformStateKey } from "./transform-state.js";

/**
 * Runs a model's transform if the catalog lists one, while others read and write. The rows are
 * changed in batches. Each row is written in its new form with all of its index entries, under a
 * check of its versionstamp. A row that was written after the transform began has the new schema
 * already. So each row is changed exactly once, wherever a run is stopped or killed. A row that
 * cannot be changed stays as it is, and is recorded with the reason; the next run tries it again.
 * The transform ends when no such row is left.
 *
 * @returns `"done"` also if no transform is under way; `"failed-rows"` if rows are recorded as
 * failed, so that the next run resumes the transform.
 * @throws {StaleSchemaError} if the database has a newer schema than this program.
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
  const initial = await beginOrResume(context, run, transform);
  if (initial === "stopped") return "stopped";
  const retried = await retryFailed(context, run, initial);
  if (retried === "stopped") return "stopped";
  const meter = run.meter(model.name);
  meter.start("transforming", retried.rowsDone, retried.rowsTotal);
  const onBatch = (state: TransformState) => meter.advance(state.rowsDone, state.rowsTotal);
  const scanned = await transformBatches(
    context,
    run,
    retried,
    remainingRows(context, retried, onBatch),
  );
  if (scanned === "stopped") return "stopped";
  // Failed rows may have been deleted or written since. They must not keep the transform from
  // ending.
  const end = await retryFailed(context, run, scanned);
  if (end === "stopped") return "stopped";
  if (end.failed > 0) {
    await changeCatalog(context, run.lease, (entry) =>
      entry.transform?.id !== transform.id || entry.transform.scanned
        ? undefined
        : { ...entry, transform: { ...entry.transform, scanned: true } },
    );
    return "failed-rows";
  }
  await changeCatalog(context, run.lease, ({ transform: running, ...finished }, operation) => {
    if (running?.id !== transform.id) return undefined;
    operation.delete(transformStateKey(model));
    for (const { id } of transformsOf(running)) operation.delete(transformMarkKey(model, id));
    return finished;
  });
  return "done";
}

/** Returns the state that an earlier run of the transform left, or the initial state. */
async function beginOrResume(
  context: TableContext,
  run: MigrationRun,
  { id }: RunningTransform,
): Promise<TransformState | "stopped"> {
  const value = await readTransformState(context.kv, context.model);
  if (value?.id === id) return value;
  // Those of earlier transforms.
  if (!(await clearRecords(context, run, failedRowsPrefix(context.model)))) return "stopped";
  const rowsTotal = await countStoredRows(context, run, []);
  if (rowsTotal === undefined) return "stopped";
  return { format: 1, id, after: null, rowsDone: 0, rowsTotal, failed: 0 };
}

async function retryFailed(
  context: TableContext,
  run: MigrationRun,
  state: TransformState,
): Promise<TransformState | "stopped"> {
  if (state.failed === 0) return state;
  return await transformBatches(context, run, state, {
    start: null,
    next: async (after, limit) => {
      const failures = await readRecordedFailures(context, after, limit);
      const keys = failures.map(({ primaryKey }) => primaryKey);
      const entries = await readRows(viewOf(context), keys);
      return entries.map((entry, i) => ({ primaryKey: keys[i] ?? [], entry, isRecorded: true }));
    },
    moved: (current) => current,
    onBatch: () => undefined,
  });
}

/** Includes other entries under the prefix of the rows. */
function remainingRows(
  context: TableContext,
  { after: start }: TransformState,
  onBatch: RowSource["onBatch"],
): RowSource {
  const prefix = [context.model.place];
  return {
    start,
    next: async (after, limit) => {
      const afterKey = after && [...prefix, ...after];
      const entries = await readEntriesAfter<AnyRow>(context, prefix, afterKey, limit);
      return entries.map((entry) => {
        return { primaryKey: entry.key.slice(1), entry, isRecorded: false };
      });
    },
    moved: (state, rows, after) => ({ ...state, after, rowsDone: state.rowsDone + rows }),
    onBatch,
  };
}
