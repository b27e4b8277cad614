import { type Command, CommanderError } from "commander";
import { createProgram } from "./program.js";
import { type ExitCode, exitCodes } from "./terminal/process/exit-codes.js";
import { reportError } from "./terminal/report-error.js";
import type { Terminal } from "./terminal/terminal.js";

/**
 * Runs a command line and returns the exit code for the process.
 *
 * @param args the arguments without the name of the program.
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const program = createProgram(terminal, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(helpWordLast(program, args), { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      reportError(error, terminal);
      return exitCodes.failed;
    }
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  }
}

/**
 * `help migrate run` → `migrate help run`, because commander's `help` accepts only one word.
 * `help migrate nope` → `migrate nope`, for which commander says that there is no such command.
 */
function helpWordLast(program: Command, args: readonly string[]): readonly string[] {
  const [first, ...words] = args;
  const last = words.at(-1);
  if (first !== "help" || last === undefined) return args;
  let command = program;
  for (const [index, word] of words.entries()) {
    if (word.startsWith("-")) break;
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined && word !== "help") {
      if (command.commands.length > 0) return words.slice(0, index + 1);
      program.error(`error: the command ${words.slice(0, index).join(" ")} has no commands`);
    }
    command = next ?? command;
  }
  return [...words.slice(0, -1), first, last];
}
