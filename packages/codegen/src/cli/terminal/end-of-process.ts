import { CommandUnfinishedError } from "../../errors/codegen-errors.js";
import { FileFailedError } from "../../errors/inspect-errors.js";
import { type ExitCode, exitCodes, interrupted } from "./exit-codes.js";
import { reportError } from "./report-error.js";
import type { Terminal } from "./terminal.js";

/**
 * Looks that the process ends as its command does: one that ends before has failed, and says so, and so has one whose output
 * could not be written. That nobody reads it any more is no failure: the command works on to its end.
 *
 * @returns ends the process.
 */
export function endOfProcess(terminal: Terminal): (exitCode: ExitCode) => Promise<never> {
  const { stdout, stderr } = terminal;
  let isOver = false;
  let failure: FileFailedError | undefined;
  process.on("uncaughtExceptionMonitor", () => {
    // Node.js shows it.
    isOver = true;
  });
  process.on("exit", (code) => {
    if (isOver || code === interrupted) return;
    process.exitCode = exitCodes.failed;
    reportError(new CommandUnfinishedError(), terminal);
  });
  const listen = (stream: NodeJS.WriteStream, name: string) => {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") failure ??= new FileFailedError(name, error);
    });
  };
  listen(stdout, "standard output");
  listen(stderr, "standard error");
  return async (exitCode) => {
    isOver = true;
    await written(stdout);
    // One that has failed has said why.
    if (failure !== undefined && exitCode !== exitCodes.failed) reportError(failure, terminal);
    await written(stderr);
    // A model's module may hold the process open, as by a database that it opens.
    process.exit(failure === undefined ? exitCode : exitCodes.failed);
  };
}

/** Waits until what was written before is out, and until an error of that was told of, which comes behind the callback. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write("", () => setImmediate(resolve));
  });
}
