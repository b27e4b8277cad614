import type { KvLike } from "@keywright/core";
import { KeyNotationError } from "../../errors/inspect-errors.js";
import { LineOutput } from "../../inspect/entries/line-output.js";
import { type IfMissing, loadDatabaseConfig, withKv } from "../../project/open-project.js";
import { type ExitCode, exitCodes } from "../terminal/exit-codes.js";
import { reportError } from "../terminal/report-error.js";
import type { Terminal } from "../terminal/terminal.js";

/**
 * Runs a command of `inspect`, which says what the process exits with. Where nobody reads its output any more, that is 0. Ctrl-C
 * ends the process, unless the command has something to tidy up and is `interruptible`.
 */
export async function inspecting(
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

/** Lends the database that a configuration names: its models are not needed. */
export async function withConfiguredKv<T>(
  { folder }: Terminal,
  configFile: string | undefined,
  use: (kv: KvLike) => Promise<T>,
  ifMissing?: IfMissing,
): Promise<T> {
  return await withKv(await loadDatabaseConfig(folder, configFile, ifMissing), use, ifMissing);
}

/** What a database says of keys and ranges, which stand on the command line. */
const usageCodes: readonly unknown[] = ["KW_KEY_INVALID", "KW_SELECTOR_INVALID"];

function isUsageError(error: unknown): boolean {
  if (error instanceof KeyNotationError) return true;
  return error instanceof Error && "code" in error && usageCodes.includes(error.code);
}
