import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { adoptCommand } from "./adopt-command.js";
import { completionCommand } from "./completion-command.js";
import { type ExitCode, exitCodes } from "./exit-codes.js";
import { generateCommand } from "./generate-command.js";
import { initCommand } from "./init-command.js";
import { inspectCommand } from "./inspect-command.js";
import { migrateCommand } from "./migrate-command.js";
import { reportError } from "./report-error.js";
import type { MakeCommand, Terminal } from "./terminal.js";
import { verifyCommand } from "./verify-command.js";

/** In the order of the help. */
const commands: readonly MakeCommand[] = [
  initCommand,
  generateCommand,
  migrateCommand,
  verifyCommand,
  adoptCommand,
  inspectCommand,
  completionCommand,
];

/**
 * Runs the command line and says what the process should exit with.
 *
 * @param args without the program's own name.
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const program = new Command("keywright")
    .description(
      "Typed repositories from Keywright models, and everything that is done to their databases.",
    )
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    })
    .exitOverride();
  const exit = (code: ExitCode) => {
    exitCode = code;
  };
  for (const make of commands) program.addCommand(make(terminal, exit));
  inheritSettings(program);
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      reportError(error, terminal);
      return exitCodes.failed;
    }
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  }
}

/** Errors of commands within commands are written and thrown as those of the program. */
function inheritSettings(parent: Command): void {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent);
    inheritSettings(command);
  }
}

function version(): string {
  const packageJson = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(packageJson) as { readonly version: string }).version;
}
