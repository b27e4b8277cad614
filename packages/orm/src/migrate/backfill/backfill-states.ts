import { ulid } from "@keywright/core";
import {
  type BackfillState,
  backfillKey,
  duplicatesPrefix,
  type UnreportedRows,
  unreportedKey,
} from "../../catalog/backfill-state.js";
import { withIndexStates } from "../../catalog/catalog-entry.js";
import type { TableContext } from "../../context/table-context.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { forgetUnreported } from "../build/unreported-rows.js";
import { isReplaced } from "../plan/plan-indexes.js";
import type { MigrationRun } from "../run/migration-run.js";
import { countRows } from "../run/scan-rows.js";
import { Verification } from "../verify/verify-state.js";

/** A backfill that is under way. */
export interface RunningBackfill {
  readonly state: BackfillState;
  /** Those of its indexes that are still to be filled. */
  readonly indexes: readonly CompiledIndex[];
}

/**
 * The backfill that is under way, or one that begins here: its indexes go write-only, so that writers keep them up from there
 * on.
 *
 * @param isCounted the rows are counted before one begins.
 * @returns undefined where there is nothing to fill.
 */
export async function beginOrResume(
  context: TableContext,
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
    const { value: state } = await kv.get<BackfillState>(key);
    if (state !== null) {
      const indexes = unfinishedIndexes(context, state);
      if (indexes.length > 0) return { state, indexes };
      // Its indexes were dropped before it was through.
      await Verification.forget(context, run, state.id);
      await run.lease.commit(kv.atomic().check(snapshot.check).delete(key));
      continue;
    }
    const indexes = model.indexes.filter((index) => isUnready(context, index));
    if (indexes.length === 0) return undefined;
    const names = indexes.map((index) => index.name);
    const rowsTotal = isCounted ? await countRows(context, run, names) : undefined;
    if (isCounted && rowsTotal === undefined) return "stopped";
    const first: BackfillState = {
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
      .set(key, first);
    await forgetUnreported(context, operation, names);
    if (!(await run.lease.commit(operation)).ok) continue;
    await catalog.reload();
    return { state: first, indexes };
  }
}

/** The indexes of a backfill that are still in the state in which it left them. */
export function unfinishedIndexes(
  { model, catalog }: TableContext,
  state: BackfillState,
): CompiledIndex[] {
  const expected = state.isScanned ? "verifying" : "write-only";
  return model.indexes.filter(
    (index) => state.indexes.includes(index.name) && catalog.snapshot.stateOf(index) === expected,
  );
}

/** Whether an index is to be filled, and nobody is about it: one may have been begun whose state somebody has deleted. */
function isUnready({ catalog, model }: TableContext, index: CompiledIndex): boolean {
  const { snapshot } = catalog;
  const { indexes } = snapshot.entry;
  const stored = Object.hasOwn(indexes, index.name) ? indexes[index.name] : undefined;
  // One that another has replaced, and whose declaration the program still has.
  if (stored !== undefined && isReplaced(model, index, stored)) return false;
  const state = snapshot.stateOf(index);
  return state === "absent" || state === "write-only" || state === "verifying";
}

/**
 * Ends a scan: its indexes go verifying.
 *
 * @returns false where they changed meanwhile.
 */
export async function endScan(
  { kv, model, catalog }: TableContext,
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
 * Ends a backfill: its indexes go readable, or unique-pending where rows share a value. Rows that it has left out stay written
 * down until a run has returned them.
 *
 * @returns false where they changed meanwhile.
 */
export async function endBackfill(
  { kv, model, catalog }: TableContext,
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
    const left: UnreportedRows = { format: 1, indexes: state.indexes, unindexed };
    operation.set(unreportedKey(model, state.id), left);
  }
  const { ok } = await run.lease.commit(operation);
  await catalog.reload();
  return ok;
}
