import type { Kv } from "@keywright/core";
import type { Duplicate, UnindexedRow } from "../catalog/backfill-state.js";
import type { IndexState } from "../catalog/catalog-entry.js";
import { type AnyDatabase, tableContexts } from "../context/any-database.js";
import type { TableContext } from "../context/table-context.js";
import { LeaseLostError } from "../errors/migration-errors.js";
import type { CompiledIndex } from "../model/compiled-model.js";
import { resolveDuplicates } from "../write/commit/resolve-duplicates.js";
import { backfill } from "./backfill/backfill.js";
import { buildCounters } from "./build/build-counters.js";
import { dropIndexes } from "./build/drop-indexes.js";
import { readUnreported, removeUnreported, type Unreported } from "./build/unreported-rows.js";
import { beginMigration } from "./plan/begin-migration.js";
import type { MigrationPlan } from "./plan/migration-plan.js";
import { readPlan } from "./plan/plan-facts.js";
import { takeLease } from "./run/lease.js";
import { type MigrationRun, migrationRun, type RunOptions } from "./run/migration-run.js";
import { type FailedRow, listFailedRows } from "./transform/failed-rows.js";
import { transformRows } from "./transform/transform-rows.js";

export interface MigrateOptions extends RunOptions {
  /**
   * Steps of the class `"breaking"` that may be done: their ids, or true for all of them. Without it a plan that has some is
   * refused, and nothing is done.
   */
  readonly accept?: boolean | readonly string[] | undefined;
  /** Looks at all rows and entries of a new index before it goes readable; it does without this. */
  readonly verify?: boolean | undefined;
  /** Counts the rows first, so that the progress has an end; it does without this. */
  readonly count?: boolean | undefined;
  /** Waits where another runner is at work; it does without this. */
  readonly wait?: boolean | undefined;
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

/**
 * How a run ended: `"done"`; `"duplicates"` where a unique index waits for rows to be changed; `"failed-rows"` where rows could
 * not be changed as the schema asks; `"unindexed-rows"` where an index that is readable now could not take all rows, so that
 * queries by it do not find those; `"stopped"` by the signal; `"busy"` where another runner is at work and is not waited for;
 * `"lost"` where another runner has taken over meanwhile. Where nothing was begun: `"blocked"` where a migration has to be written
 * first, `"refused"` where a step is breaking and is not accepted.
 */
export type MigrationOutcome =
  | "done"
  | "duplicates"
  | "failed-rows"
  | "unindexed-rows"
  | "stopped"
  | "busy"
  | "lost"
  | "blocked"
  | "refused";

export interface MigrationResult {
  readonly status: MigrationOutcome;
  /** What was to be done when the run began; empty where it did not come to plan. */
  readonly plan: MigrationPlan;
  readonly indexes: readonly MigratedIndex[];
  /**
   * The first rows that an index could not hold, a hundred for each scan of a model at the most: those too that an earlier run has
   * met, which was stopped.
   */
  readonly unindexed: readonly UnindexedRow[];
  /** How many there are: a row counts once for each reason. */
  readonly unindexedCount: number;
  /** The first rows that could not be changed, a hundred for each model at the most. */
  readonly failed: readonly FailedRow[];
}

/** So many duplicates of an index, or failed rows of a model, a result has at the most. */
const mostReported = 100;

const noPlan: MigrationPlan = {
  models: [],
  steps: [],
  databaseOnly: [],
  isEmpty: true,
  isBreaking: false,
  needsMigration: false,
};

/** What a run has found so far. */
interface Report {
  readonly indexes: MigratedIndex[];
  readonly unindexed: UnindexedRow[];
  unindexedCount: number;
  readonly failed: FailedRow[];
}

/**
 * Brings a database to the models that it was opened with, by the steps of {@link planMigration}, beside its readers and
 * writers: builds new indexes and counters, rebuilds changed ones, removes dropped ones, and changes rows by the migrations that
 * the database was opened with. A run that was stopped or killed goes on where it was. One runner works at a time.
 *
 * ```ts
 * const result = await migrate(db, { onProgress: ({ rowsDone, rowsTotal }) => console.log(rowsDone, rowsTotal) });
 * ```
 *
 * How a run ended is data: see `result.status`. A run after `"duplicates"` or `"failed-rows"` looks at those rows again, and
 * duplicates are looked at by writers, too: an index goes readable when the last of them goes.
 *
 * @throws {StaleSchemaError} where the database has a newer schema than this program.
 * @throws {RangeError} for a `rowsPerSecond` that is no positive number.
 */
export async function migrate(
  database: AnyDatabase,
  options: MigrateOptions = {},
): Promise<MigrationResult> {
  return await migrateTables(tableContexts(database).values(), options);
}

/**
 * Brings a database to some models. All of its runs do the same: each stage looks in the catalog for what is left of it, so that
 * a run that was stopped or killed anywhere goes on there.
 */
async function migrateTables(
  contexts: Iterable<TableContext>,
  options: MigrateOptions,
): Promise<MigrationResult> {
  const { signal, wait = true } = options;
  const tables = [...contexts];
  const report: Report = { indexes: [], unindexed: [], unindexedCount: 0, failed: [] };
  const [any] = tables;
  if (any === undefined) return { status: "done", plan: noPlan, ...report };
  const lease = await takeLease(any.kv, { wait, signal });
  if (typeof lease === "string") return { status: lease, plan: noPlan, ...report };
  let plan = noPlan;
  try {
    plan = await readPlan(tables);
    const hindrance = hindranceOf(plan, options.accept);
    if (hindrance !== undefined) return { status: hindrance, plan, ...report };
    const run = migrationRun(lease, options);
    return { status: await runStages(any.kv, tables, run, options, report), plan, ...report };
  } catch (error) {
    if (error instanceof LeaseLostError) return { status: "lost", plan, ...report };
    throw error;
  } finally {
    await lease.release();
  }
}

function hindranceOf(
  plan: MigrationPlan,
  accept: MigrateOptions["accept"] = false,
): "blocked" | "refused" | undefined {
  if (plan.needsMigration) return "blocked";
  const isAccepted = (id: string) => (typeof accept === "boolean" ? accept : accept.includes(id));
  const isRefused = plan.steps.some((step) => step.class === "breaking" && !isAccepted(step.id));
  return isRefused ? "refused" : undefined;
}

async function runStages(
  kv: Kv,
  contexts: readonly TableContext[],
  run: MigrationRun,
  options: MigrateOptions,
  report: Report,
): Promise<MigrationOutcome> {
  // All fences move first: the program can write every model from then on.
  for (const context of contexts) await beginMigration(context, run);
  let hasFailed = false;
  let isStopped = false;
  for (const context of contexts) {
    const outcome = await runModel(context, run, options, report);
    isStopped = outcome === "stopped";
    if (isStopped) break;
    hasFailed ||= outcome === "failed-rows";
  }
  const unreported = await readUnreported(contexts);
  reportUnindexed(unreported, report);
  if (isStopped) return "stopped";
  await removeUnreported(kv, run.lease, unreported);
  if (hasFailed) return "failed-rows";
  if (report.indexes.some((index) => index.duplicateCount > 0)) return "duplicates";
  return report.unindexedCount > 0 ? "unindexed-rows" : "done";
}

/** Reports the rows that indexes could not hold: those too that an earlier run has met, which was stopped. */
function reportUnindexed({ backfills }: Unreported, report: Report): void {
  for (const { unindexed } of backfills) {
    report.unindexed.push(...unindexed.rows);
    report.unindexedCount += unindexed.count;
  }
}

/** Runs the stages of a model, one after the other: also those behind a change that some rows have failed. */
async function runModel(
  context: TableContext,
  run: MigrationRun,
  { verify, count }: MigrateOptions,
  report: Report,
): Promise<"done" | "stopped" | "failed-rows"> {
  const { model, catalog } = context;
  const { snapshot } = catalog;
  const unready = model.indexes.filter((index) => snapshot.stateOf(index) !== "readable");
  let hasFailed = false;
  const stages = [
    () => dropIndexes(context, run),
    async () => {
      const outcome = await transform(context, run, report);
      hasFailed = outcome === "failed-rows";
      return outcome !== "stopped";
    },
    () => backfill(context, run, { verify, count }),
    () => buildCounters(context, run),
  ];
  let isStopped = false;
  for (const stage of stages) isStopped ||= !(await stage());
  for (const index of unready) {
    const migrated = await finishIndex(context, run, index, isStopped);
    isStopped ||= migrated === "stopped";
    if (migrated !== "stopped") report.indexes.push(migrated);
  }
  if (isStopped) return "stopped";
  return hasFailed ? "failed-rows" : "done";
}

/** Changes the rows where a change of them is under way, and reports those that could not be. */
async function transform(
  context: TableContext,
  run: MigrationRun,
  report: Report,
): ReturnType<typeof transformRows> {
  const outcome = await transformRows(context, run);
  if (outcome === "failed-rows") {
    const { items } = await listFailedRows(context, { take: mostReported });
    report.failed.push(...items);
  }
  return outcome;
}

/** Says what has become of an index, and takes in duplicates that are some no longer. */
async function finishIndex(
  context: TableContext,
  run: MigrationRun,
  index: CompiledIndex,
  isStopped: boolean,
): Promise<MigratedIndex | "stopped"> {
  const { model, catalog } = context;
  const isPending = !isStopped && catalog.snapshot.stateOf(index) === "unique-pending";
  const left = isPending ? await resolve(context, run, index) : undefined;
  if (left === "stopped") return "stopped";
  const { duplicates = [], count: duplicateCount = 0 } = left ?? {};
  const state = catalog.snapshot.stateOf(index);
  return { model: model.name, index: index.name, state, duplicates, duplicateCount };
}

async function resolve(context: TableContext, run: MigrationRun, index: CompiledIndex) {
  const between = async () => {
    await run.took(0);
    return !run.signal?.aborted;
  };
  const commit = run.lease.commit.bind(run.lease);
  return await resolveDuplicates(context, index, { commit, between, most: mostReported });
}
