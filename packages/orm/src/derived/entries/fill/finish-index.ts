import type { CompiledIndex } from "../../../model/compiled-model.js";
import type { Duplicate } from "../../../state/catalog/backfill-state.js";
import type { IndexState } from "../../../state/catalog/catalog-entry.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import type { MigrationRun } from "../../../state/run/migration-run.js";
import { type DuplicatesLeft, resolveDuplicates } from "../duplicates/resolve-duplicates.js";

/** The result for an index that was not readable when the run began. */
export interface MigratedIndex {
  readonly model: string;
  readonly index: string;
  readonly state: IndexState;
  /**
   * The rows that keep a unique index from being readable, because other rows have their values. At
   * most 100.
   */
  readonly duplicates: readonly Duplicate[];
  /** The number of all these rows. */
  readonly duplicateCount: number;
}

/** The maximum number of duplicates per index, and of failed rows per model, in a result. */
export const maxReported = 100;

/** First adds the rows to the index that are no longer duplicates. */
export async function finishIndex(
  context: ModelStore,
  run: MigrationRun,
  index: CompiledIndex,
  isStopped = false,
): Promise<MigratedIndex | "stopped"> {
  const { model, catalog } = context;
  let left: DuplicatesLeft = { duplicates: [], count: 0 };
  if (!isStopped && catalog.snapshot.stateOf(index) === "unique-pending") {
    const resolved = await resolveDuplicates(context, index, {
      commit: (operation) => run.lease.commit(operation),
      shouldContinue: async () => {
        await run.afterBatch(0);
        return !run.signal?.aborted;
      },
      maxListed: maxReported,
    });
    if (resolved === "stopped") return resolved;
    left = resolved;
  }
  const { duplicates, count: duplicateCount } = left;
  const state = catalog.snapshot.stateOf(index);
  return { model: model.name, index: index.name, state, duplicates, duplicateCount };
}
