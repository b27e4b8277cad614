import type { KvLike } from "@keywright/core";
import { KeyNotationError } from "../../errors/inspect-errors.js";
import { LineOutput } from "../../inspect/entries/line-output.js";
import {
  loadDatabaseConfig,
  type MissingDatabasePolicy,
  withKv,
} from "../../project/open-project.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { reportError } from "../terminal/report-error.js";
import type { Terminal } from "../terminal/terminal.js";

/**
 * Runs a command of `inspect`, which returns the exit code. The exit code is 0 if the reader of the
 * output has closed the pipe. Ctrl-C ends the process, unless the command uses `interruptible`
 * because it has something to clean up.
 */
export async function runInspectCommand(
  terminal: Terminal,
  exit: (code: ExitCode) => void,
  run: (output: LineOutput) => Promise<ExitCode>,
): Promise<void> {
  const output = new LineOutput(terminal.stdout, "standard output");
  try {
    const code = await run(output);
    await output.flush();
    exit(output.isEnded ? exitCodes.done : code);
  } catch (error) {
    if (!isUsageError(error)) throw error;
    reportError(error, terminal);
    exit(exitCodes.usage);
  }
}

export async function withConfiguredKv<T>(
  { folder }: Terminal,
  configFile: string | undefined,
  use: (kv: KvLike) => Promise<T>,
  ifMissing?: MissingDatabasePolicy,
): Promise<T> {
  return await withKv(await loadDatabaseConfig(folder, configFile, ifMissing), use, ifMissing);
}

/** The codes of database errors about keys and ranges, which come from the command line. */
const usageCodes: readonly unknown[] = ["KW_KEY_INVALID", "KW_SELECTOR_INVALID"];

function isUsageError(error: unknown): boolean {
  if (error instanceof KeyNotationError) return true;
  return error instanceof Error && "code" in error && usageCodes.includes(error.code);
}
