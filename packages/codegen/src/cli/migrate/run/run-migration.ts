import { type AnyDatabase, type MigrationResult, migrate, migrationStatus } from "@keywright/orm";
import { type MigrationPlan, recordSameFunctions } from "@keywright/orm/migrate";
import { migrationProgress } from "../../../progress/migration-progress.js";
import { type OpenProject, withProject } from "../../../project/open-project.js";
import { type ExitCode, exitCodes } from "../../terminal/process/exit-codes.js";
import type { Terminal } from "../../terminal/terminal.js";
import { writeText } from "../../terminal/text/wrap.js";
import { withProgress } from "../../terminal/with-progress.js";
import { writeJson } from "../../terminal/write-json.js";
import type { MigrateCommandOptions } from "../migrate-options.js";
import { planText, runnerText, stepIdLines } from "../plan-text.js";
import { missingModelLines, planWithDrops } from "../plan-with-drops.js";
import { askRenames, renamedModelLines } from "./ask-renames.js";
import { keepSameFunctions } from "./ask-same-functions.js";
import { decide } from "./decide.js";
import { dryRun } from "./dry-run.js";
import type { ModelPreview } from "./preview-rows.js";
import { type RunReport, resultText } from "./result-text.js";
import { newlyChanged, tryRows } from "./try-rows.js";

/** The differences between the commands that migrate. */
export interface RunVariant {
  readonly nothingToDo: string;
  /** True if the user must always confirm, even if no step is breaking. */
  readonly alwaysAsks: boolean;
  /** True if `--accept` must name steps of the plan. A resumed run may have done them already. */
  readonly checksAccepted: boolean;
  readonly createsDatabase: boolean;
}

export async function runMigration(
  terminal: Terminal,
  options: MigrateCommandOptions,
  kind: RunVariant,
  fail: (message: string) => never,
): Promise<ExitCode> {
  const { config, json } = options;
  const ifMissing = kind.createsDatabase && !options.dryRun ? "create" : "fail";
  const migrateProject = async ({ database }: OpenProject) => {
    let plan = await planWithDrops(database, options, fail);
    if (!options.dryRun && (await keepSameFunctions(terminal, database, plan, options)))
      plan = await planWithDrops(database, options, fail);
    const unknown = kind.checksAccepted ? unknownStep(plan, options) : undefined;
    if (unknown !== undefined) fail(unknown);
    if (options.dryRun) return await dryRun(terminal, database, plan, options);
    // A run records the functions that a plan warns of.
    const isRecorded = plan.warnings.length === 0 || kind.alwaysAsks;
    const isDone = plan.isEmpty && isRecorded && (await isAllReported(database));
    const missing = missingModelLines(plan, options.dropModel);
    if (!json && !(plan.isEmpty && isRecorded))
      writeText(terminal.stdout, [planText(terminal, plan), ...missing, ""].join("\n"));
    if (!kind.alwaysAsks) {
      const renamed = await askRenames(terminal, plan, options);
      if (renamed.length > 0) {
        writeText(terminal.stdout, ["Nothing was changed. First:", ...renamed].join("\n"));
        return exitCodes.undecided;
      }
    }
    if (isDone) {
      // Programs that are built in other ways may know these functions only by their code.
      await recordSameFunctions(database, []);
      if (json) writeJson(terminal, unstartedResult("done", plan));
      else {
        const lines = [kind.nothingToDo, ...missing, ...renamedModelLines(plan)];
        writeText(terminal.stdout, lines.join("\n"));
      }
      return exitCodes.done;
    }
    const report = await reportOf(terminal, database, plan, options, kind);
    if (json) writeJson(terminal, { ...report.result, previews: report.failing });
    else writeText(terminal.stdout, await resultText(terminal, database, report));
    return exitCodeOf(report);
  };
  return await withProject(terminal.folder, config, migrateProject, ifMissing);
}

/** Allows any id if the plan is empty, because an earlier run may have done the steps. */
function unknownStep(
  { steps, isEmpty }: MigrationPlan,
  { accept = [] }: MigrateCommandOptions,
): string | undefined {
  const unknown = accept.find((id) => steps.every((step) => step.id !== id));
  if (unknown === undefined || isEmpty) return undefined;
  return [`there is no step ${JSON.stringify(unknown)}: choose from`, ...stepIdLines(steps)].join(
    "\n",
  );
}

function unstartedResult(status: MigrationResult["status"], plan: MigrationPlan): MigrationResult {
  const none = {
    indexes: [],
    unindexed: [],
    unindexedCount: 0,
    failed: [],
    dangling: [],
    dropped: [],
  };
  return { status, plan, ...none };
}

async function reportOf(
  terminal: Terminal,
  database: AnyDatabase,
  plan: MigrationPlan,
  options: MigrateCommandOptions,
  { alwaysAsks }: RunVariant,
): Promise<RunReport> {
  const unstarted = (status: MigrationResult["status"]): RunReport => ({
    result: unstartedResult(status, plan),
    changedRows: new Map(),
  });
  if (plan.isEmpty) return await runWithProgress(terminal, database, options, []);
  if (plan.needsMigration) return unstarted("blocked");
  const accept = await decide(terminal, plan, options, alwaysAsks);
  if (accept === "refused") return unstarted("refused");
  if (accept === "declined") return { ...unstarted("refused"), isDeclined: true };
  const failing = options.acceptFailures
    ? []
    : await previewFailures(terminal, database, plan, options);
  if (failing.length > 0) return { ...unstarted("refused"), failing };
  return await runWithProgress(terminal, database, options, accept);
}

async function previewFailures(
  terminal: Terminal,
  database: AnyDatabase,
  plan: MigrationPlan,
  options: MigrateCommandOptions,
): Promise<readonly ModelPreview[]> {
  const models = await newlyChanged(database, plan);
  const previews = await tryRows(terminal, database, models, options);
  // The rows that would change are not reported.
  return previews.flatMap((one) => (one.failedCount > 0 ? { ...one, rows: [] } : []));
}

/** False if a run was killed after its last step, before it reported rows without an entry. */
async function isAllReported(database: AnyDatabase): Promise<boolean> {
  const { models } = await migrationStatus(database);
  const indexes = models.flatMap((model) => Object.values(model.indexes));
  return indexes.every(({ unindexed }) => unindexed === null);
}

async function runWithProgress(
  terminal: Terminal,
  database: AnyDatabase,
  { wait, verify, rowsPerSecond, dropModel, removeValues }: MigrateCommandOptions,
  accept: readonly string[],
): Promise<RunReport> {
  if (wait) await announceWaiting(terminal, database);
  const progress = migrationProgress({ stream: terminal.stderr });
  const changedRows = new Map<string, number>();
  const result = await withProgress(terminal, progress, ({ signal, onProgress }) =>
    migrate(database, {
      accept,
      dropModels: dropModel,
      removeValues,
      wait,
      verify,
      rowsPerSecond,
      signal,
      onProgress: (now) => {
        if (now.phase === "transforming") changedRows.set(now.model, now.done);
        onProgress(now);
      },
    }),
  );
  return { result, changedRows };
}

/** Reports another run before waiting for its end, which may take long. */
async function announceWaiting(terminal: Terminal, database: AnyDatabase): Promise<void> {
  const { runner } = await migrationStatus(database);
  if (runner?.alive) writeText(terminal.stderr, `${runnerText(runner)} Waiting for its end.`);
}

function exitCodeOf({ result: { status }, failing }: RunReport): ExitCode {
  if (failing !== undefined) return exitCodes.failed;
  if (status === "done") return exitCodes.done;
  return status === "blocked" || status === "refused" ? exitCodes.undecided : exitCodes.failed;
}
