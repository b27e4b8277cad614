import { Command } from "commander";
import type { ExitCode } from "../terminal/exit-codes.js";
import type { MakeCommand, Terminal } from "../terminal/terminal.js";
import { exportCommand } from "./export-command.js";
import { getCommand } from "./get-command.js";
import { importCommand } from "./import-command.js";
import { keyHelp } from "./key-help.js";
import { lsCommand } from "./ls-command.js";
import { statsCommand } from "./stats-command.js";

/** The commands in the order of the help text. */
const commands: readonly MakeCommand[] = [
  lsCommand,
  getCommand,
  statsCommand,
  exportCommand,
  importCommand,
];

const help = `${keyHelp}

Examples:
  $ keywright inspect ls '["users"]' --limit 10
  $ keywright inspect get '["users", "01J8Z3"]'
  $ keywright inspect stats
  $ keywright inspect export --out backup.jsonl

They work at the database that keywright.config.ts opens with database. One process owns a database on disk: stop the
program that has it open.

Exit codes: 0 done, 1 failed or stopped, 2 wrong usage, 3 an import has left out entries.`;

/** Creates the command `keywright inspect`. */
export function inspectCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = new Command("inspect")
    .description("look at what the database holds, and copy it to and from files")
    .addHelpText("after", help);
  for (const make of commands) command.addCommand(make(terminal, exit));
  return command;
}
