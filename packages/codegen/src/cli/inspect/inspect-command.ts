import { Command } from "commander";
import type { ExitCode } from "../terminal/process/exit-codes.js";
import type { MakeCommand, Terminal } from "../terminal/terminal.js";
import { helpText } from "../terminal/text/wrap.js";
import { exportCommand } from "./export-command.js";
import { getCommand } from "./get-command.js";
import { importCommand } from "./import-command.js";
import { keyHelp } from "./key-help.js";
import { lsCommand } from "./ls-command.js";
import { statsCommand } from "./stats-command.js";

const commands: readonly MakeCommand[] = [
  lsCommand,
  getCommand,
  statsCommand,
  exportCommand,
  importCommand,
];

const help = helpText(`${keyHelp}

Examples:
  $ keywright inspect ls '["users"]' --limit 10
  $ keywright inspect get '["users", "01J8Z3"]'
  $ keywright inspect stats
  $ keywright inspect export --out backup.jsonl

The commands open the \`database\` of keywright.config.ts. If a program has it open, they use it through
the program.

Exit codes: 0 done, 1 failed or stopped, 2 wrong usage, 3 an import refused entries.`);

export function inspectCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = new Command("inspect")
    .description("look at the entries of the database, and copy them to and from files")
    .addHelpText("after", help);
  for (const make of commands) command.addCommand(make(terminal, exit));
  return command;
}
