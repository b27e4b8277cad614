import { planMigration } from "@keywright/orm";
import { Command } from "commander";
import { withProject } from "../../project/open-project.js";
import { type ExitCode, exitCodes } from "../terminal/exit-codes.js";
import { withResultOptions } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { writeJson } from "../terminal/write-json.js";
import { nextLines } from "./next-lines.js";
import { planText } from "./plan-text.js";

const help = `
Each step has a class:
  safe       nothing is lost, and it is done at once
  backfill   something new is made from the rows, beside programs that read and write
  rebuild    an index is made anew, and cannot be read meanwhile
  data       rows are changed by a migration that you write
  breaking   programs lose something: it has to be accepted

A model that is new to the database is entered in it, as by any program that
opens it. One that is in the database only is named behind the steps.

An embedded database belongs to one process: stop the program that has it open.
Where there is no database yet, nothing is planned for it: that fails.

Examples:
  $ keywright migrate plan          what a migration would do
  $ keywright migrate plan --json   the same for a program

Exit codes: 0 there is nothing to do, or all of it can be run as it is; 1
failed; 2 wrong usage; 3 steps are breaking, or blocked until a migration is
written.`;

/** Creates the command `keywright migrate plan`. */
export function planCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return withResultOptions(new Command("plan"))
    .description("show what leads from the database to the models, and do nothing of it")
    .addHelpText("after", help)
    .action(async ({ config, json }: { config?: string; json?: true }) => {
      const plan = await withProject(terminal.folder, config, async ({ database }) => {
        const plan = await planMigration(database);
        if (json) writeJson(terminal, plan);
        else {
          const lines = [planText(terminal, plan), ...(await nextLines(database, plan))];
          terminal.stdout.write(`${lines.join("\n")}\n`);
        }
        return plan;
      });
      exit(plan.isBreaking || plan.needsMigration ? exitCodes.undecided : exitCodes.done);
    });
}
