import type { Duplicate, UnindexedRow } from "../catalog/backfill-state.js";
import type { IndexState } from "../catalog/catalog-entry.js";
import type { TableContext } from "../query/table-context.js";
import { resolveDuplicates } from "../write/resolve-duplicates.js";
import { backfill } from "./backfill.js";
import { buildCounters } from "./build-counters.js";
import { dropIndexes } from "./drop-indexes.js";
import { takeLease } from "./lease.js";
import type { MigrationProgress } from "./migration-progress.js";
import { type MigrationRun, migrationRun } from "./migration-run.js";

export interface MigrateOptions {
  /** Called while rows are counted, and after each batch. */
  readonly onProgress?: (progress: MigrationProgress) => void;
  /** Stops after the batch in hand; the next run goes on there. */
  readonly signal?: AbortSignal;
  /** Rows that are read in a second at the most; without it as many as possible. */
  readonly rowsPerSecond?: number;
  /** Looks at all rows and entries of a new index before it goes readable; it does without this. */
  readonly verify?: boolean;
  /** Counts the rows first, so that the progress has an end; it does without this. */
  readonly count?: boolean;
  /** Waits where another runner is at work; it does without this. */
  readonly wait?: boolean;
}

/** What has become of an index that was not readable when the run began. */
export interface MigratedIndex {
  readonly model: string;
  readonly index: string;
  readonly state: IndexState;
  /** The first hundred rows that keep a unique index from being readable: others have their values. */
  readonly duplicates: readonly Duplicate[];
  /** How many there are. */
  readonly duplicateCount: number;
}

export interface MigrationResult {
  /**
   * `"duplicates"` where a unique index waits for rows to be changed, `"stopped"` by the signal, `"busy"` where another runner
   * is at work and is not waited for.
   */
  readonly status: "done" | "duplicates" | "stopped" | "busy";
  readonly indexes: readonly MigratedIndex[];
  /** The first rows that an index could not hold, a hundred for each model at the most. */
  readonly unindexed: readonly UnindexedRow[];
}

/** So many duplicates of an index a result has at the most. */
const mostDuplicates = 100;

/** Builds the indexes and the counters of some models that are not readable yet. */
export async function migrateTables(
  contexts: Iterable<TableContext>,
  options: MigrateOptions,
): Promise<MigrationResult> {
  const { signal, wait = true } = options;
  const tables = [...contexts];
  const [any] = tables;
  if (any === undefined) return { status: "done", indexes: [], unindexed: [] };
  const lease = await takeLease(any.kv, { wait, signal });
  if (typeof lease === "string") return { status: lease, indexes: [], unindexed: [] };
  try {
    return await runTables(tables, migrationRun(lease, options), options);
  } finally {
    await lease.release();
  }
}

async function runTables(
  contexts: readonly TableContext[],
  run: MigrationRun,
  { verify, count }: MigrateOptions,
): Promise<MigrationResult> {
  const indexes: MigratedIndex[] = [];
  const unindexed: UnindexedRow[] = [];
  let wasStopped = false;
  const between = async () => {
    await run.took(0);
    return !run.signal?.aborted;
  };
  const commit = run.lease.commit.bind(run.lease);
  for (const context of contexts) {
    const { model, catalog } = context;
    await catalog.reload();
    const unready = model.indexes.filter((index) => catalog.snapshot.stateOf(index) !== "readable");
    const onUnindexed = ({ rows }: { rows: readonly UnindexedRow[] }) => {
      unindexed.push(...rows);
    };
    wasStopped ||= !(await dropIndexes(context, run));
    wasStopped ||= !(await backfill(context, run, { verify, count, onUnindexed }));
    wasStopped ||= !(await buildCounters(context, run));
    for (const index of unready) {
      const isPending = !wasStopped && catalog.snapshot.stateOf(index) === "unique-pending";
      const left = isPending
        ? await resolveDuplicates(context, index, { commit, between, most: mostDuplicates })
        : undefined;
      wasStopped ||= left === "stopped";
      const { count: duplicateCount, duplicates } =
        left === undefined || left === "stopped" ? { count: 0, duplicates: [] } : left;
      const state = catalog.snapshot.stateOf(index);
      indexes.push({ model: model.name, index: index.name, state, duplicates, duplicateCount });
    }
  }
  const hasDuplicates = indexes.some((index) => index.duplicateCount > 0);
  const status = wasStopped ? "stopped" : hasDuplicates ? "duplicates" : "done";
  return { status, indexes, unindexed };
}
