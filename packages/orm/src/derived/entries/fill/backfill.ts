import type { KvEntry } from "@keywright/core";
import type { AnyRow, CompiledIndex } from "../../../model/compiled-model.js";
import {
  type BackfillState,
  backfillKey,
  type UnindexedRow,
} from "../../../state/catalog/backfill-state.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import { buildInBatches } from "../../../state/run/build-in-batches.js";
import type { MigrationRun } from "../../../state/run/migration-run.js";
import type { BuildOptions } from "../../maintenance.js";
import { compactIndexes, mergeFilled } from "../../text/compact/compact-groups.js";
import { textSizes } from "../../text/compact/text-upkeep.js";
import { Verification } from "../../verify/verification.js";
import { verifyBuiltEntries } from "../verify/entries-verifier.js";
import { addBatch, type BackfillBatch, planBatch } from "./backfill-batch.js";
import {
  beginOrResume,
  endBackfill,
  endScan,
  type RunningBackfill,
  unfinishedIndexes,
} from "./backfill-states.js";
import { fillInPieces } from "./fill-in-pieces.js";
import { noteRefused, withUnindexed } from "./unindexed-rows.js";

/**
 * Fills the new indexes of a model in one scan of its rows, while others write.
 *
 * 1. The indexes become write-only. Writers maintain them from then on.
 * 2. The rows get their entries in batches. Each batch is one commit that checks the rows, the
 *    catalog and the lease, and stores the position of the scan. A row with more entries than one
 *    commit accepts gets them in several commits.
 * 3. The indexes become verifying, and the entries are verified. Text indexes get one segment for
 *    each group. A run that is resumed then scans no rows again: segments may have them by now.
 * 4. The indexes become readable, or unique-pending if rows share a unique value.
 *
 * A row that an index cannot hold is left out of it. {@link readUnreported} returns such rows.
 *
 * @returns false if the signal stopped it. The next call resumes after the last batch.
 * @throws {StaleSchemaError} if the database has something that this program does not know.
 * @throws {LeaseLostError} if another runner has taken over.
 */
export async function backfill(
  context: ModelStore,
  run: MigrationRun,
  options: BuildOptions = {},
): Promise<boolean> {
  const { count = true } = options;
  for (;;) {
    let running = await beginOrResume(context, run, count);
    if (running === "stopped") return false;
    if (running === undefined) return true;
    // The verification of entries compares nothing of text indexes.
    const verify = options.verify !== false && running.indexes.some(({ text }) => !text);
    const compacts = running.indexes.some(({ text }) => text !== undefined);
    if (!running.state.isScanned) {
      running = await scan(context, run, running);
      if (running === "stopped") return false;
      if (running === undefined) continue;
      if (verify || compacts) {
        await endScan(context, run, running);
        continue;
      }
    } else if (verify) {
      const isVerified = await verifyBuiltEntries(context, run, {
        indexes: running.indexes,
        repair: true,
        partOf: running.state.id,
        rowsTotal: running.state.rowsTotal,
      });
      if (!isVerified) return false;
    }
    if (!(await compactIndexes(context, run, running.indexes))) return false;
    // An earlier run may have begun to verify it.
    if (!verify) await Verification.forget(context, run, running.state.id);
    await endBackfill(context, run, running);
  }
}

/** Returns undefined if the indexes changed in the meantime. */
async function scan(
  context: ModelStore,
  run: MigrationRun,
  running: RunningBackfill,
): Promise<RunningBackfill | "stopped" | undefined> {
  let { indexes } = running;
  // Usually only the backfill writes entries. If a commit fails, unique keys may have been taken.
  let assumesFree = indexes.some((index) => index.unique);
  const state = await buildInBatches(context, run, running.state, {
    indexes: indexes.map((index) => index.name),
    maxRows: () => maxRowsPerCommit(context, indexes),
    add: async (rows, current) => {
      const next = await fillBatch(context, run, { state: current, indexes }, rows, assumesFree);
      if (next === "too-large") return "smaller";
      if (next !== "conflict") return next;
      if (!assumesFree) return "smaller";
      assumesFree = false;
      return "again";
    },
    isWanted: (current) => {
      indexes = unfinishedIndexes(context, current);
      return indexes.length > 0;
    },
  });
  if (state === "stopped") return state;
  return state === "unwanted" ? undefined : { state, indexes };
}

/**
 * A row costs one check and its entries. Each unique entry costs up to two more checks, and a
 * segment of many rows one.
 */
function maxRowsPerCommit({ limits }: ModelStore, indexes: readonly CompiledIndex[]): number {
  const ofUnique = 2 * indexes.filter(({ unique }) => unique).length;
  const ofText = indexes.filter(({ text }) => text !== undefined).length / textSizes.filled;
  const checksPerRow = 1 + ofUnique + (limits.checks > textSizes.filled ? ofText : 0);
  // The catalog and the lease need a check each, the lease and the state a mutation each.
  const byChecks = Math.floor((limits.checks - 2) / checksPerRow);
  const byMutations = Math.floor((limits.mutations - 2) / indexes.length);
  return Math.min(byChecks, byMutations);
}

/** Returns the new state; `"conflict"` if a check failed, `"too-large"` if fewer rows may fit. */
async function fillBatch(
  context: ModelStore,
  run: MigrationRun,
  { state, indexes }: RunningBackfill,
  rows: readonly KvEntry<AnyRow>[],
  assumesFree: boolean,
): Promise<BackfillState | "conflict" | "too-large"> {
  const last = rows.at(-1);
  if (last === undefined) return state;
  const { kv, model, catalog } = context;
  const { check } = catalog.snapshot;
  const batch = await planBatch(context, indexes, rows, assumesFree);
  const commit = async (part: BackfillBatch) => {
    const unindexed = withUnindexed(state.unindexed, part.unindexed);
    const next: BackfillState = {
      ...state,
      after: last.key.slice(1),
      rowsDone: state.rowsDone + rows.length,
      ...(unindexed !== undefined && { unindexed }),
    };
    const result = await run.lease.commitBatch(() => {
      const operation = kv.atomic().check(check);
      addBatch(context, operation, part);
      return operation.set(backfillKey(model), next);
    });
    return { ...result, next };
  };
  const whole = await commit(batch);
  if (whole.ok) {
    for (const segment of batch.segments) await mergeFilled(context, run, segment);
    return whole.next;
  }
  if (whole.tooLarge === undefined) return "conflict";
  if (rows.length > 1) return "too-large";
  const refused = await fillInPieces(context, run, batch);
  if (refused === undefined) return "conflict";
  const unindexed: UnindexedRow[] = [...batch.unindexed];
  if (refused.length > 0) {
    const reason = "One of its entries is too large for one commit.";
    noteRefused(model, last.key.slice(1), unindexed)(refused, reason);
  }
  // The row may have changed since the last piece. The check then fails, and the row is planned
  // again.
  const end = await commit({ ...batch, entries: [], duplicates: [], unindexed });
  if (end.tooLarge !== undefined) throw end.tooLarge;
  return end.ok ? end.next : "conflict";
}
