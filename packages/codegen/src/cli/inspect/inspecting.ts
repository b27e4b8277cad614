import type { KvLike } from "@keywright/core";
import { KeyNotationError } from "../../errors/inspect-errors.js";
import { loadConfig } from "../../generate/load-config.js";
import { withKv } from "../../project/open-project.js";
import { type ExitCode, exitCodes } from "../exit-codes.js";
import { interruptible } from "../interruptible.js";
import { reportError } from "../report-error.js";
import type { Terminal } from "../terminal.js";
import { LineOutput } from "./line-output.js";

/** What a command of `inspect` works with. */
export interface Inspection {
  readonly output: LineOutput;
  /** Aborted by Ctrl-C, and when nobody reads the output any more. */
  readonly signal: AbortSignal;
}

/** Runs a command of `inspect`, which says what the process exits with. Where nobody reads its output any more, that is 0. */
export async function inspecting(
  terminal: Terminal,
  exit: (code: ExitCode) => void,
  run: (inspection: Inspection) => Promise<ExitCode>,
): Promise<void> {
  const output = new LineOutput(terminal);
  try {
    const code = await interruptible(terminal, async (interrupted) => {
      const signal = AbortSignal.any([interrupted, output.ended]);
      const code = await run({ output, signal });
      await output.flush();
      return code;
    });
    exit(output.isEnded ? exitCodes.done : code);
  } catch (error) {
    if (!isUsageError(error)) throw error;
    reportError(error, terminal);
    exit(exitCodes.usage);
  }
}

/** The same with the database that a configuration names: its models are not needed. */
export async function inspectingDatabase(
  terminal: Terminal,
  exit: (code: ExitCode) => void,
  configFile: string | undefined,
  run: (kv: KvLike, inspection: Inspection) => Promise<ExitCode>,
): Promise<void> {
  await inspecting(terminal, exit, async (inspection) => {
    const config = await loadConfig(terminal.folder, configFile);
    return await withKv(config, (kv) => run(kv, inspection));
  });
}

/** Keys and ranges stand on the command line. */
function isUsageError(error: unknown): boolean {
  if (error instanceof KeyNotationError) return true;
  return error instanceof Error && "code" in error && error.code === "KW_SELECTOR_INVALID";
}
