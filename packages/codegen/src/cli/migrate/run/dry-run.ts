import type { AnyDatabase } from "@keywright/orm";
import type { MigrationPlan, MigrationStep } from "@keywright/orm/migrate";
import { type ExitCode, exitCodes } from "../../terminal/process/exit-codes.js";
import type { Terminal } from "../../terminal/terminal.js";
import { writeText } from "../../terminal/text/wrap.js";
import { writeJson } from "../../terminal/write-json.js";
import type { MigrateCommandOptions } from "../migrate-options.js";
import { planText } from "../plan-text.js";
import { sharedValueLines, sharedValues } from "../shared-values.js";
import { previewText } from "./preview-text.js";
import { tryRows } from "./try-rows.js";

/** The steps for which only the run itself finds the rows that block them. */
const indexKinds: readonly MigrationStep["kind"][] = ["build-index", "rebuild-index"];

/** Shows a plan and tries it on all rows that it changes. Changes no row, index or counter. */
export async function dryRun(
  terminal: Terminal,
  database: AnyDatabase,
  plan: MigrationPlan,
  options: MigrateCommandOptions,
): Promise<ExitCode> {
  const models = plan.models.flatMap(({ model, steps }) =>
    steps.some(({ kind }) => kind === "drop-model") ? [] : model,
  );
  const previews = await tryRows(terminal, database, models, options);
  const duplicates = await sharedValues(terminal, database, plan);
  if (options.json) writeJson(terminal, { plan, previews, duplicates });
  else {
    const blocks = [planText(terminal, plan), ...previews.map((one) => previewText(terminal, one))];
    const [, ...shared] = sharedValueLines(duplicates);
    if (shared.length > 0) blocks.push(shared.join("\n"));
    if (plan.steps.some(({ kind }) => indexKinds.includes(kind))) blocks.push(unseenText);
    const end = "This was a dry run. Nothing was changed.";
    writeText(terminal.stdout, [...blocks, end].join("\n\n"));
  }
  if (plan.isBreaking || plan.needsMigration) return exitCodes.undecided;
  const wouldFail = previews.some(({ failedCount }) => failedCount > 0);
  return wouldFail || duplicates.length > 0 ? exitCodes.failed : exitCodes.done;
}

const unseenText =
  "A dry run does not check that new indexes can contain unchanged rows. Only the run finds rows for which this is not so.";
