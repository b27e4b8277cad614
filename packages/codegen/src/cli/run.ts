import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { type ExitCode, exitCodes } from "./exit-codes.js";
import { generateCommand } from "./generate-command.js";
import { reportError } from "./report-error.js";
import type { Terminal } from "./terminal.js";

/**
 * Runs the command line and says what the process should exit with.
 *
 * @param args without the program's own name.
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const program = new Command("keywright")
    .description("Generates typed repositories from Keywright models.")
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    })
    .exitOverride();
  program.addCommand(
    generateCommand(terminal, (code) => {
      exitCode = code;
    }).copyInheritedSettings(program),
  );
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

function version(): string {
  const packageJson = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(packageJson) as { readonly version: string }).version;
}
