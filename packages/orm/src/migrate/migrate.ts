import type { IndexState } from "../catalog/catalog-entry.js";
import type { TableContext } from "../query/table-context.js";
import { backfill } from "./backfill.js";
import type { Duplicate } from "./backfill-state.js";
import { buildCounters } from "./build-counters.js";
import type { MigrationProgress } from "./migration-progress.js";
import { resolveDuplicates } from "./resolve-duplicates.js";

export interface MigrateOptions {
  /** Called while rows are counted, and after each batch. */
  readonly onProgress?: (progress: MigrationProgress) => void;
  /** Stops after the batch in hand; the next run goes on there. */
  readonly signal?: AbortSignal;
}

/** What has become of an index that was not readable when the run began. */
export interface MigratedIndex {
  readonly model: string;
  readonly index: string;
  readonly state: IndexState;
  /** The rows that keep a unique index from being readable: others have their values. */
  readonly duplicates: readonly Duplicate[];
}

export interface MigrationResult {
  /** `"duplicates"` where a unique index waits for rows to be changed, `"stopped"` by the signal. */
  readonly status: "done" | "duplicates" | "stopped";
  readonly indexes: readonly MigratedIndex[];
}

/** Builds the indexes and the counters of some models that are not readable yet. */
export async function migrateTables(
  contexts: Iterable<TableContext>,
  options: MigrateOptions,
): Promise<MigrationResult> {
  const { onProgress = () => undefined, signal } = options;
  const indexes: MigratedIndex[] = [];
  let wasStopped = false;
  for (const context of contexts) {
    const { model, catalog } = context;
    await catalog.reload();
    const unready = model.indexes.filter((index) => catalog.snapshot.stateOf(index) !== "readable");
    wasStopped = wasStopped || !(await backfill(context, { onProgress, signal }));
    wasStopped = wasStopped || !(await buildCounters(context, signal));
    for (const index of unready) {
      const isPending = !wasStopped && catalog.snapshot.stateOf(index) === "unique-pending";
      const duplicates = isPending ? await resolveDuplicates(context, index) : [];
      const state = catalog.snapshot.stateOf(index);
      indexes.push({ model: model.name, index: index.name, state, duplicates });
    }
  }
  const hasDuplicates = indexes.some((index) => index.duplicates.length > 0);
  return {
    status: wasStopped ? "stopped" : hasDuplicates ? "duplicates" : "done",
    indexes,
  };
}
