import { type Command, CommanderError } from "commander";
import { UsageError } from "../errors/command-errors.js";
import { createProgram } from "./program.js";
import { type ExitCode, exitCodes } from "./terminal/process/exit-codes.js";
import { reportError } from "./terminal/report-error.js";
import type { Terminal } from "./terminal/terminal.js";
import { writeJson } from "./terminal/write-json.js";

/**
 * Runs a command line and returns the exit code for the process.
 *
 * @param args the arguments without the name of the program.
 */
export async function run(args: readonly string[], given: Terminal): Promise<ExitCode> {
  const isJson = isJsonWanted(args);
  const terminal = isJson ? { ...given, isJson } : given;
  let exitCode: ExitCode = exitCodes.done;
  let help = "";
  const program = createProgram(
    terminal,
    (code) => {
      exitCode = code;
    },
    isJson ? (text) => (help += text) : undefined,
  );
  try {
    const words = isJson ? jsonLast(program, args) : args;
    await program.parseAsync(helpWordLast(program, words), { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      reportError(error, terminal);
      return exitCodes.failed;
    }
    if (error.exitCode !== 0) {
      if (isJson) reportError(new UsageError({ reason: usageReason(error) }), terminal);
      return exitCodes.usage;
    }
    if (isJson) writeJson(terminal, { text: help });
    return exitCodes.done;
  }
}

/** True if a command line has the option `--json`. */
export function isJsonWanted(args: readonly string[]): boolean {
  return ownArguments(args).includes("--json");
}

/** The arguments before `--`. Those after it are never options. */
function ownArguments(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--");
  return end < 0 ? args : args.slice(0, end);
}

/**
 * `--json migrate plan` → `migrate plan --json`, because commander takes an option only after its
 * command. What prints help has no such option.
 */
function jsonLast(program: Command, args: readonly string[]): readonly string[] {
  const own = ownArguments(args);
  const words = own.filter((word) => word !== "--json");
  let command: Command | undefined = program;
  for (const word of words) {
    const next: Command | undefined = command.commands.find((each) => each.name() === word);
    if (next === undefined) break;
    command = next;
  }
  const hasOption = command.options.some(({ long }) => long === "--json");
  return [...words, ...(hasOption ? ["--json"] : []), ...args.slice(own.length)];
}

function usageReason({ code, message }: CommanderError): string {
  if (code === "commander.help") return "a command is missing";
  return message.replace(/^error: /, "").replaceAll("\n", " ");
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
