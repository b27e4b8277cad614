import { buildDerived, dropDerived } from "../derived/build-derived.js";
import {
  finishIndex,
  type MigratedIndex,
  maxReported,
} from "../derived/entries/fill/finish-index.js";
import { readUnreported, removeUnreported } from "../derived/entries/fill/unreported-rows.js";
import { LeaseLostError } from "../errors/migration-errors.js";
import type { UnindexedRow } from "../state/catalog/backfill-state.js";
import { type AnyDatabase, tableContexts } from "../state/context/any-database.js";
import type { TableContext } from "../state/context/table-context.js";
import { takeLease } from "../state/run/lease.js";
import { createRun, type MigrationRun, type RunOptions } from "../state/run/migration-run.js";
import { renewRows } from "../write/many/renew-rows.js";
import { changeKeys } from "./change-key.js";
import { type DroppedModel, fenceDroppedModels, removeDroppedModels } from "./drop-models.js";
import { beginMigrations } from "./plan/begin-migration.js";
import { emptyPlan, type MigrationPlan } from "./plan/migration-plan.js";
import { planMigration } from "./plan/plan-migration.js";
import { beginRemoval } from "./plan/remove-values.js";
import { type FailedRow, findFailedRows } from "./transform/failed-rows.js";
import { transformRows } from "./transform/transform-rows.js";
import type { DanglingReference } from "./verify/dangling-references.js";

export interface MigrateOptions extends RunOptions {
  /**
   * The breaking steps that may run: a list of their ids, or true for all of them. Without this
   * option, a plan with a breaking step is refused and nothing is changed.
   */
  readonly accept?: boolean | readonly string[] | undefined;
  /**
   * The names of models to remove with all of their rows, index entries and counters. Only models
   * that the database has and the program does not have any longer can be removed. Their steps need
   * not be accepted. Names that the database does not have are skipped. A removal that was
   * interrupted is resumed by the next run without this option.
   */
  readonly dropModels?: readonly string[] | undefined;
  /**
   * The names of models from whose rows the values of removed fields are removed. Their steps need
   * not be accepted. A removal that was interrupted is resumed by the next run without this option.
   */
  readonly removeValues?: readonly string[] | undefined;
  /**
   * Verifies all rows and entries of a new index before the index becomes readable. True by
   * default.
   */
  readonly verify?: boolean | undefined;
  /** Counts the rows first, so that the progress has a total. True by default. */
  readonly count?: boolean | undefined;
  /** Waits if another runner holds the lease. True by default. */
  readonly wait?: boolean | undefined;
}

/**
 * How a run ended:
 *
 * - `"done"`: the database has the program's models
 * - `"duplicates"`: a unique index cannot be read until duplicate values are changed or deleted
 * - `"failed-rows"`: some rows could not be changed to the new schema
 * - `"unindexed-rows"`: an index could not take all rows, so queries that use it do not find them
 * - `"key-unchanged"`: a primary key cannot change yet, because rows share a value of the new key
 *   (`indexes`), have none (`unindexed`), or refer to a missing row (`dangling`). No other model is
 *   migrated until these rows are changed
 * - `"stopped"`: the signal was aborted
 * - `"busy"`: another runner holds the lease, and `wait` is false
 * - `"lost"`: the lease was taken over by another runner during the run
 * - `"blocked"`: nothing was changed, because a migration has to be written first
 * - `"refused"`: nothing was changed, because a breaking step was not accepted
 */
export type MigrationOutcome =
  | "done"
  | "duplicates"
  | "failed-rows"
  | "unindexed-rows"
  | "key-unchanged"
  | "stopped"
  | "busy"
  | "lost"
  | "blocked"
  | "refused";

export interface MigrationResult {
  readonly status: MigrationOutcome;
  /** The plan when the run began. Empty if the run ended before it made a plan. */
  readonly plan: MigrationPlan;
  readonly indexes: readonly MigratedIndex[];
  /**
   * The first rows that an index could not hold, at most 100 per scan of a model. Includes the rows
   * of earlier runs that were stopped before they could report them.
   */
  readonly unindexed: readonly UnindexedRow[];
  /** The number of all these rows. A row counts once for each reason. */
  readonly unindexedCount: number;
  /** The first rows that could not be changed, at most 100 per model. */
  readonly failed: readonly FailedRow[];
  /** The first references by a new primary key that lead to no row, at most about 100. */
  readonly dangling: readonly DanglingReference[];
  /** The models that were removed from the database. */
  readonly dropped: readonly DroppedModel[];
}

interface Report {
  readonly indexes: MigratedIndex[];
  readonly unindexed: UnindexedRow[];
  unindexedCount: number;
  readonly failed: FailedRow[];
  readonly dangling: DanglingReference[];
  readonly dropped: DroppedModel[];
}

/**
 * Migrates a database to the models that it was opened with, by the steps of {@link planMigration}.
 * Builds new indexes and counters, rebuilds changed ones, removes dropped ones, and changes rows by
 * the migrations that the database was opened with. Other programs can read and write all the time.
 * If a run is stopped or killed, the next run resumes after its last batch. One runner works at a
 * time.
 *
 * ```ts
 * const result = await migrate(db, {
 *   onProgress: ({ done, total }) => console.log(done, total),
 * });
 * ```
 *
 * `result.status` says how the run ended. The run after `"duplicates"` or `"failed-rows"` checks
 * those rows again. Writers also check duplicates: an index becomes readable when its last
 * duplicate is gone.
 *
 * @throws {StaleSchemaError} if the database has a newer schema than this program.
 * @throws {InvalidArgumentError} if `rowsPerSecond` is not a positive number, or if the program has
 * one of the models in `dropModels` or lacks one of those in `removeValues`.
 */
export async function migrate(
  database: AnyDatabase,
  options: MigrateOptions = {},
): Promise<MigrationResult> {
  const { signal, wait = true } = options;
  const tables = [...tableContexts(database).values()];
  const report: Report = {
    indexes: [],
    unindexed: [],
    unindexedCount: 0,
    failed: [],
    dangling: [],
    dropped: [],
  };
  const [firstTable] = tables;
  if (firstTable === undefined) return { status: "done", plan: emptyPlan, ...report };
  const lease = await takeLease(firstTable.kv, { wait, signal });
  if (typeof lease === "string") return { status: lease, plan: emptyPlan, ...report };
  let plan = emptyPlan;
  try {
    plan = await planMigration(database, options);
    const obstacle = findObstacle(plan, options.accept);
    if (obstacle !== undefined) return { status: obstacle, plan, ...report };
    const run = createRun(lease, options);
    const status = await runStages(database, tables, run, options, report);
    return { status, plan, ...report };
  } catch (error) {
    if (error instanceof LeaseLostError) return { status: "lost", plan, ...report };
    throw error;
  } finally {
    await lease.release();
  }
}

/**
 * Returns why a plan cannot run: a step is blocked, or a breaking step is not accepted. Undefined
 * if it can.
 */
function findObstacle(
  plan: MigrationPlan,
  accept: boolean | readonly string[] = false,
): "blocked" | "refused" | undefined {
  if (plan.needsMigration) return "blocked";
  const isAccepted = (id: string) => (typeof accept === "boolean" ? accept : accept.includes(id));
  // Only what the caller has named is planned to be dropped or removed.
  const named: readonly string[] = ["drop-model", "remove-values"];
  const isRefused = plan.steps.some(
    (step) => step.class === "breaking" && !named.includes(step.kind) && !isAccepted(step.id),
  );
  return isRefused ? "refused" : undefined;
}

/**
 * Runs the stages of all models. Each stage finds the remaining work in the catalog, so a run needs
 * nothing else to resume one that was stopped or killed.
 */
async function runStages(
  database: AnyDatabase,
  contexts: readonly TableContext[],
  run: MigrationRun,
  options: MigrateOptions,
  report: Report,
): Promise<MigrationOutcome> {
  // All fences move first, so that the program can write every model from then on.
  const begin = (models: readonly TableContext[]) => beginMigrations(models, run);
  const keys = await changeKeys(contexts, run, options, begin);
  if (keys === "stopped" || keys === "blocked") return keys;
  if (keys !== "done") {
    report.indexes.push(...keys.indexes);
    report.unindexed.push(...keys.unkeyed);
    report.unindexedCount += keys.unkeyedCount;
    report.dangling.push(...keys.dangling);
    return "key-unchanged";
  }
  if (!(await begin(contexts))) return "stopped";
  for (const context of contexts) await beginRemoval(context, run, options.removeValues);
  await fenceDroppedModels(contexts, run, options.dropModels);
  let isStopped = false;
  let hasFailed = false;
  for (const context of contexts) {
    const outcome = await runModel(database, context, run, options, report);
    isStopped = outcome === "stopped";
    if (isStopped) break;
    hasFailed ||= outcome === "failed-rows";
  }
  isStopped ||= !(await removeDroppedModels(contexts, run, report.dropped));
  const unreported = await readUnreported(contexts);
  for (const { unindexed } of unreported.backfills) {
    report.unindexed.push(...unindexed.rows);
    report.unindexedCount += unindexed.count;
  }
  if (isStopped) return "stopped";
  await removeUnreported(run.lease, unreported);
  if (hasFailed) return "failed-rows";
  if (report.indexes.some((index) => index.duplicateCount > 0)) return "duplicates";
  return report.unindexedCount > 0 ? "unindexed-rows" : "done";
}

/** Runs the stages of a model in order. Failed rows in one stage do not prevent the next stages. */
async function runModel(
  database: AnyDatabase,
  context: TableContext,
  run: MigrationRun,
  options: MigrateOptions,
  report: Report,
): Promise<"done" | "stopped" | "failed-rows"> {
  const { model, catalog } = context;
  const { snapshot } = catalog;
  const unreadyIndexes = model.indexes.filter((index) => snapshot.stateOf(index) !== "readable");
  let hasFailed = false;
  const build = () =>
    buildDerived(context, run, { ...options, renewRows: (keys) => renewRows(context, keys) });
  const stages = [
    () => dropDerived(context, run),
    async () => {
      const outcome = await transformRows(context, run);
      hasFailed = outcome === "failed-rows";
      if (hasFailed) {
        const query = { model: model.name, take: maxReported };
        report.failed.push(...(await findFailedRows(database, query)).items);
      }
      return outcome !== "stopped";
    },
    build,
  ];
  let isStopped = false;
  for (const stage of stages) isStopped ||= !(await stage());
  for (const index of unreadyIndexes) {
    const migrated = await finishIndex(context, run, index, isStopped);
    isStopped ||= migrated === "stopped";
    if (migrated !== "stopped") report.indexes.push(migrated);
  }
  // An index whose last duplicate is gone has replaced its definition.
  isStopped ||= !(await dropDerived(context, run)) || !(await build());
  if (isStopped) return "stopped";
  return hasFailed ? "failed-rows" : "done";
}
