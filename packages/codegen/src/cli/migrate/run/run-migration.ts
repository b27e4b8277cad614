import {
  type AnyDatabase,
  type MigrationPlan,
  type MigrationResult,
  migrate,
  migrationStatus,
  planMigration,
} from "@keywright/orm";
import { migrationProgress } from "../../../progress/migration-progress.js";
import { type OpenProject, withProject } from "../../../project/open-project.js";
import { type ExitCode, exitCodes } from "../../terminal/exit-codes.js";
import type { Terminal } from "../../terminal/terminal.js";
import { withProgress } from "../../terminal/with-progress.js";
import { writeJson } from "../../terminal/write-json.js";
import type { MigrateCommandOptions } from "../migrate-options.js";
import { planText, stepIdLines } from "../plan-text.js";
import { runnerText } from "../runner-text.js";
import { decide } from "./decide.js";
import { dryRun } from "./dry-run.js";
import type { ModelPreview } from "./preview-rows.js";
import { type RunReport, resultText } from "./result-text.js";
import { newlyChanged, tryRows } from "./try-rows.js";

/** What differs between the commands that migrate. */
export interface MigrationKind {
  /** What is said where the database is as the models are. */
  readonly nothingToDo: string;
  /** It is not begun without somebody's word, whatever is in it. */
  readonly alwaysAsks: boolean;
  /** An id of `--accept` that no step has is wrong usage. Where a run is gone on with, its step may be done. */
  readonly checksAccepted: boolean;
  /** A database is made where there is none. */
  readonly createsDatabase: boolean;
}

/**
 * Plans, decides, migrates and reports: what `migrate run`, `resume` and `rollback` do.
 *
 * @param fail ends the command as one that was used wrongly.
 */
export async function runMigration(
  terminal: Terminal,
  options: MigrateCommandOptions,
  kind: MigrationKind,
  fail: (message: string) => never,
): Promise<ExitCode> {
  const { config, json } = options;
  const ifMissing = kind.createsDatabase && !options.dryRun ? "create" : "fail";
  const work = async ({ database }: OpenProject) => {
    const plan = await planMigration(database);
    const unknown = kind.checksAccepted ? unknownStep(plan, options) : undefined;
    if (unknown !== undefined) fail(unknown);
    if (options.dryRun) return await dryRun(terminal, database, plan, options);
    if (plan.isEmpty && (await isAllReported(database))) {
      if (json) writeJson(terminal, resultWithout("done", plan));
      else terminal.stdout.write(`${kind.nothingToDo}\n`);
      return exitCodes.done;
    }
    if (!json && !plan.isEmpty) terminal.stdout.write(`${planText(terminal, plan)}\n\n`);
    const report = await reportOf(terminal, database, plan, options, kind);
    if (json) writeJson(terminal, { ...report.result, previews: report.failing });
    else terminal.stdout.write(`${await resultText(terminal, database, report)}\n`);
    return exitCodeOf(report);
  };
  return await withProject(terminal.folder, config, work, ifMissing);
}

/**
 * What is said of an id of `--accept` that no step has; undefined where there is none. A plan without steps is of a migration
 * that is done, by a command that was given twice.
 */
function unknownStep(
  { steps, isEmpty }: MigrationPlan,
  { accept = [] }: MigrateCommandOptions,
): string | undefined {
  const unknown = accept.find((id) => steps.every((step) => step.id !== id));
  if (unknown === undefined || isEmpty) return undefined;
  return [`there is no step ${JSON.stringify(unknown)}: there are`, ...stepIdLines(steps)].join(
    "\n",
  );
}

/** The result where nothing was begun. */
function resultWithout(status: MigrationResult["status"], plan: MigrationPlan): MigrationResult {
  return { status, plan, indexes: [], unindexed: [], unindexedCount: 0, failed: [] };
}

async function reportOf(
  terminal: Terminal,
  database: AnyDatabase,
  plan: MigrationPlan,
  options: MigrateCommandOptions,
  { alwaysAsks }: MigrationKind,
): Promise<RunReport> {
  const without = (status: MigrationResult["status"]): RunReport => ({
    result: resultWithout(status, plan),
    changedRows: new Map(),
  });
  if (plan.isEmpty) return await runWithProgress(terminal, database, options, []);
  if (plan.needsMigration) return without("blocked");
  const accept = await decide(terminal, plan, options, alwaysAsks);
  if (accept === "refused") return without("refused");
  if (accept === "declined") return { ...without("refused"), isDeclined: true };
  const failing = options.acceptFailures ? [] : await wouldFail(terminal, database, plan, options);
  if (failing.length > 0) return { ...without("refused"), failing };
  return await runWithProgress(terminal, database, options, accept);
}

/** What becomes of the rows of models of which the plan begins a change that some of them would fail. */
async function wouldFail(
  terminal: Terminal,
  database: AnyDatabase,
  plan: MigrationPlan,
  options: MigrateCommandOptions,
): Promise<readonly ModelPreview[]> {
  const models = await newlyChanged(database, plan);
  const previews = await tryRows(terminal, database, models, options);
  // What changes in others is no matter here.
  return previews.flatMap((one) => (one.failedCount > 0 ? { ...one, rows: [] } : []));
}

/** Whether no run is left to end that has left rows out of an index: one may have been killed behind its last step. */
async function isAllReported(database: AnyDatabase): Promise<boolean> {
  const { models } = await migrationStatus(database);
  const indexes = models.flatMap((model) => Object.values(model.indexes));
  return indexes.every(({ unindexed }) => unindexed === null);
}

async function runWithProgress(
  terminal: Terminal,
  database: AnyDatabase,
  { wait, verify, rowsPerSecond }: MigrateCommandOptions,
  accept: readonly string[],
): Promise<RunReport> {
  if (wait) await tellOfWaiting(terminal, database);
  const progress = migrationProgress({ stream: terminal.stderr });
  const changedRows = new Map<string, number>();
  const result = await withProgress(terminal, progress, ({ signal, onProgress }) =>
    migrate(database, {
      accept,
      wait,
      verify,
      rowsPerSecond,
      signal,
      onProgress: (now) => {
        if (now.phase === "transforming") changedRows.set(now.model, now.rowsDone);
        onProgress(now);
      },
    }),
  );
  return { result, changedRows };
}

/** Says who is at work before the run waits for them, which may take long. */
async function tellOfWaiting(terminal: Terminal, database: AnyDatabase): Promise<void> {
  const { runner } = await migrationStatus(database);
  if (runner?.alive) terminal.stderr.write(`${runnerText(runner)} Waiting for its end.\n`);
}

function exitCodeOf({ result: { status }, failing }: RunReport): ExitCode {
  if (failing !== undefined) return exitCodes.failed;
  if (status === "done") return exitCodes.done;
  return status === "blocked" || status === "refused" ? exitCodes.undecided : exitCodes.failed;
}
