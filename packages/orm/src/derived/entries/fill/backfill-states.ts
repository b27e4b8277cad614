import { ulid } from "@keywright/core";
import type { CompiledIndex } from "../../../model/compiled-model.js";
import {
  type BackfillState,
  backfillKey,
  duplicatesPrefix,
  readBackfill,
  type UnreportedRows,
  unreportedKey,
} from "../../../state/catalog/backfill-state.js";
import { withIndexStates } from "../../../state/catalog/catalog-entry.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import type { MigrationRun } from "../../../state/run/migration-run.js";
import { countStoredRows } from "../../counters/count-stored-rows.js";
import { Verification } from "../../verify/verification.js";
import { forgetUnreported } from "./unreported-rows.js";

export interface RunningBackfill {
  readonly state: BackfillState;
  readonly indexes: readonly CompiledIndex[];
}

/**
 * Resumes the backfill that is in progress, or begins one. When a backfill begins, its indexes
 * become write-only, so that writers maintain them from then on.
 *
 * @param isCounted if true, the rows are counted before a backfill begins.
 * @returns undefined if there is nothing to fill.
 */
export async function beginOrResume(
  context: ModelStore,
  run: MigrationRun,
  isCounted: boolean,
): Promise<RunningBackfill | "stopped" | undefined> {
  const { kv, model, catalog } = context;
  const key = backfillKey(model);
  for (;;) {
    if (run.signal?.aborted) return "stopped";
    await run.lease.renew();
    await catalog.reload();
    const { snapshot } = catalog;
    snapshot.assertWritable();
    const state = await readBackfill(kv, model);
    if (state !== null) {
      const indexes = unfinishedIndexes(context, state);
      if (indexes.length > 0) return { state, indexes };
      // The indexes of the backfill were dropped before it ended.
      await Verification.forget(context, run, state.id);
      await run.lease.commit(kv.atomic().check(snapshot.check).delete(key));
      continue;
    }
    const indexes = model.indexes.filter((index) => isUnready(context, index));
    if (indexes.length === 0) return undefined;
    const names = indexes.map((index) => index.name);
    const rowsTotal = isCounted ? await countStoredRows(context, run, names) : undefined;
    if (isCounted && rowsTotal === undefined) return "stopped";
    const initialState: BackfillState = {
      format: 1,
      id: ulid(),
      indexes: names,
      after: null,
      rowsDone: 0,
      ...(rowsTotal !== undefined && { rowsTotal }),
    };
    const operation = kv
      .atomic()
      .check(snapshot.check)
      .set(snapshot.check.key, withIndexStates(snapshot.entry, indexes, "write-only"))
      .set(key, initialState);
    await forgetUnreported(context, operation, names);
    if (!(await run.lease.commit(operation)).ok) continue;
    await catalog.reload();
    return { state: initialState, indexes };
  }
}

/** Returns the indexes of a backfill that are still in the state that the backfill gave them. */
export function unfinishedIndexes(
  { model, catalog }: ModelStore,
  state: BackfillState,
): CompiledIndex[] {
  const expected = state.isScanned ? "verifying" : "write-only";
  return model.indexes.filter(
    (index) => state.indexes.includes(index.name) && catalog.snapshot.stateOf(index) === expected,
  );
}

/** An index that is write-only or verifying here belongs to a backfill whose state is gone. */
function isUnready({ catalog }: ModelStore, index: CompiledIndex): boolean {
  const state = catalog.snapshot.stateOf(index);
  return state === "absent" || state === "write-only" || state === "verifying";
}

/** Makes the scanned indexes verifying. Returns false if the catalog has changed. */
export async function endScan(
  { kv, model, catalog }: ModelStore,
  run: MigrationRun,
  { state, indexes }: RunningBackfill,
): Promise<boolean> {
  const { entry, check } = catalog.snapshot;
  const operation = kv
    .atomic()
    .check(check)
    .set(check.key, withIndexStates(entry, indexes, "verifying"))
    .set(backfillKey(model), { ...state, isScanned: true });
  const { ok } = await run.lease.commit(operation);
  await catalog.reload();
  return ok;
}

/**
 * Ends a backfill: its indexes become readable, or unique-pending if rows share a value. The rows
 * that it left out are recorded until a run has returned them.
 *
 * @returns false if the catalog has changed in the meantime.
 */
export async function endBackfill(
  { kv, model, catalog }: ModelStore,
  run: MigrationRun,
  { state, indexes }: RunningBackfill,
): Promise<boolean> {
  const { entry, check } = catalog.snapshot;
  const pending: CompiledIndex[] = [];
  const readable: CompiledIndex[] = [];
  for (const index of indexes) {
    const duplicates = kv.list({ prefix: duplicatesPrefix(model, index.name) }, { limit: 1 });
    const hasNone = (await duplicates.next()).done === true;
    (hasNone ? readable : pending).push(index);
  }
  const ended = withIndexStates(
    withIndexStates(entry, readable, "readable"),
    pending,
    "unique-pending",
  );
  const operation = kv.atomic().check(check).set(check.key, ended).delete(backfillKey(model));
  const { unindexed } = state;
  if (unindexed !== undefined) {
    const unreported: UnreportedRows = { format: 1, indexes: state.indexes, unindexed };
    operation.set(unreportedKey(model, state.id), unreported);
  }
  const { ok } = await run.lease.commit(operation);
  await catalog.reload();
  return ok;
}
