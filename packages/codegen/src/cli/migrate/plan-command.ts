import { Command } from "commander";
import { withReadProject } from "../../project/open-project.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { type ResultOptions, withResultOptions } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { helpText, writeText } from "../terminal/text/wrap.js";
import { writeJson } from "../terminal/write-json.js";
import { dropModelOption, removeValuesOption } from "./migrate-options.js";
import { failedRows, nextLines } from "./next-lines.js";
import { planText } from "./plan-text.js";
import { missingModelLines, planWithDrops } from "./plan-with-drops.js";
import { sharedValueLines, sharedValues } from "./shared-values.js";

const help = helpText(`
Each step has a class:
  safe       nothing is lost, and the step is done at once
  backfill   something new is built from the rows, while programs read and write
  rebuild    an index is rebuilt, and some queries have to wait
  data       rows are changed by a migration that you write
  breaking   programs lose something, so the step must be accepted

For a new unique index, the command reads all rows and names those that share a value.

The command writes nothing into the database. Models that only the database has are listed after the
steps.

If a program has the database open, the command uses it through the program. If there is no database
yet, the command fails.

Examples:
  $ keywright migrate plan          show the plan
  $ keywright migrate plan --json   print the plan for a program
  $ keywright migrate plan --drop-model users   include the removal of a model that is no longer used

Exit codes: 0 there is nothing to do, or the plan can run as it is; 1 failed; 2 wrong usage; 3 steps
are breaking, or blocked until a migration is written, or rows share a value of a unique index, or a
migration could not change rows.`);

interface PlanCommandOptions extends ResultOptions {
  readonly dropModel?: readonly string[];
  readonly removeValues?: readonly string[];
}

export function planCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = withResultOptions(new Command("plan"))
    .description("show the steps that make the database match the models")
    .addOption(dropModelOption())
    .addOption(removeValuesOption())
    .addHelpText("after", help)
    .action(async (options: PlanCommandOptions) => {
      const { config, json, dropModel = [] } = options;
      const fail = (message: string) => command.error(`error: ${message}`);
      const found = await withReadProject(terminal.folder, config, async ({ database }) => {
        const plan = await planWithDrops(database, options, fail);
        const failed = await failedRows(database, plan);
        const duplicates = await sharedValues(terminal, database, plan);
        if (json) writeJson(terminal, { ...plan, duplicates });
        else {
          const lines = [
            planText(terminal, plan),
            ...missingModelLines(plan, dropModel),
            ...sharedValueLines(duplicates),
            ...nextLines(plan, failed),
          ];
          writeText(terminal.stdout, lines.join("\n"));
        }
        return { plan, hasFailedRows: failed.size > 0, hasShared: duplicates.length > 0 };
      });
      const { plan, hasFailedRows, hasShared } = found;
      const hasDuplicates =
        hasShared || plan.steps.some(({ kind }) => kind === "resolve-duplicates");
      const isUndecided = plan.isBreaking || plan.needsMigration || hasDuplicates || hasFailedRows;
      exit(isUndecided ? exitCodes.undecided : exitCodes.done);
    });
  return command;
}
