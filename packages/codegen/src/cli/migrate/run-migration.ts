import {
  type AnyDatabase,
  type MigrationPlan,
  type MigrationResult,
  migrate,
  migrationStatus,
  planMigration,
} from "@keywright/orm";
import { migrationProgress } from "../../progress/migration-progress.js";
import { withProject } from "../../project/open-project.js";
import { type ExitCode, exitCodes } from "../exit-codes.js";
import type { Terminal } from "../terminal.js";
import { withProgress } from "../with-progress.js";
import { writeJson } from "../write-json.js";
import { decide } from "./decide.js";
import { dryRun } from "./dry-run.js";
import type { MigrateCommandOptions } from "./migrate-options.js";
import { planText } from "./plan-text.js";
import { type RunReport, resultText } from "./result-text.js";
import { runnerText } from "./runner-text.js";

/** What differs between the commands that migrate. */
export interface MigrationKind {
  /** What is said where the database is as the models are. */
  readonly nothingToDo: string;
  /** It is not begun without somebody's word, whatever is in it. */
  readonly alwaysAsks: boolean;
}

/** Plans, decides, migrates and reports: what `migrate run`, `resume` and `rollback` do. */
export async function runMigration(
  terminal: Terminal,
  options: MigrateCommandOptions,
  kind: MigrationKind,
): Promise<ExitCode> {
  const { config, json } = options;
  return await withProject(terminal.folder, config, async ({ database }) => {
    const plan = await planMigration(database);
    if (options.dryRun) return await dryRun(terminal, database, plan, options);
    const head = plan.isEmpty ? kind.nothingToDo : `${planText(terminal, plan)}\n`;
    if (!json) terminal.stdout.write(`${head}\n`);
    const report = await reportOf(terminal, database, plan, options, kind);
    if (json) writeJson(terminal, report.result);
    else if (!plan.isEmpty)
      terminal.stdout.write(`${await resultText(terminal, database, report)}\n`);
    return exitCodeOf(report.result);
  });
}

async function reportOf(
  terminal: Terminal,
  database: AnyDatabase,
  plan: MigrationPlan,
  options: MigrateCommandOptions,
  { alwaysAsks }: MigrationKind,
): Promise<RunReport> {
  const without = (status: MigrationResult["status"]): RunReport => ({
    result: { status, plan, indexes: [], unindexed: [], failed: [] },
    changedRows: new Map(),
  });
  if (plan.isEmpty) return without("done");
  if (plan.needsMigration) return without("blocked");
  const accept = await decide(terminal, plan, options, alwaysAsks);
  if (accept === "refused") return without("refused");
  if (accept === "declined") return { ...without("refused"), isDeclined: true };
  return await runWithProgress(terminal, database, options, accept);
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

function exitCodeOf({ status }: MigrationResult): ExitCode {
  if (status === "done") return exitCodes.done;
  return status === "blocked" || status === "refused" ? exitCodes.undecided : exitCodes.failed;
}
