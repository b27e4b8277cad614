import type { AnyDatabase, MigrationPlan, MigrationStep } from "@keywright/orm";
import { type ExitCode, exitCodes } from "../../terminal/exit-codes.js";
import type { Terminal } from "../../terminal/terminal.js";
import { writeJson } from "../../terminal/write-json.js";
import type { MigrateCommandOptions } from "../migrate-options.js";
import { planText } from "../plan-text.js";
import { previewText } from "./preview-text.js";
import { tryRows } from "./try-rows.js";

/** Steps of which only the run finds out what rows are in their way. */
const indexKinds: readonly MigrationStep["kind"][] = ["build-index", "rebuild-index"];

/** Shows a plan, and what becomes of the rows that it changes, which are all tried. No row, index or counter is touched. */
export async function dryRun(
  terminal: Terminal,
  database: AnyDatabase,
  plan: MigrationPlan,
  options: MigrateCommandOptions,
): Promise<ExitCode> {
  const models = plan.models.map(({ model }) => model);
  const previews = await tryRows(terminal, database, models, options);
  if (options.json) writeJson(terminal, { plan, previews });
  else {
    const blocks = [planText(terminal, plan), ...previews.map((one) => previewText(terminal, one))];
    if (plan.steps.some(({ kind }) => indexKinds.includes(kind))) blocks.push(unseenText);
    const end = "Nothing was done.";
    terminal.stdout.write(`${[...blocks, end].join("\n\n")}\n`);
  }
  if (plan.isBreaking || plan.needsMigration) return exitCodes.undecided;
  return previews.some(({ failedCount }) => failedCount > 0) ? exitCodes.failed : exitCodes.done;
}

const unseenText =
  "The run itself finds out whether a new index can hold rows that do not change, and whether the values of a unique one are unique.";
