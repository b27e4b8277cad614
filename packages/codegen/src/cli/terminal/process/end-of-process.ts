import { CommandUnfinishedError } from "../../../errors/codegen-errors.js";
import { FileFailedError } from "../../../errors/inspect-errors.js";
import { reportError } from "../report-error.js";
import type { Terminal } from "../terminal.js";
import { type ExitCode, exitCodes, interruptedExitCode } from "./exit-codes.js";

/**
 * Ensures that the exit code of the process is that of its command. If the process ends before the
 * command does, or if the output cannot be written, an error is reported and the exit code is 1. A
 * closed output pipe is not a failure: the command continues to its end.
 *
 * @returns a function that ends the process after all output is written.
 */
export function endOfProcess(terminal: Terminal): (exitCode: ExitCode) => Promise<never> {
  const { stdout, stderr } = terminal;
  let isOver = false;
  let failure: FileFailedError | undefined;
  process.on("uncaughtExceptionMonitor", (error) => {
    // Node.js prints the error itself, to standard error.
    if (terminal.isJson && !isOver) reportError(error, terminal);
    isOver = true;
  });
  process.on("exit", (code) => {
    if (isOver || code === interruptedExitCode) return;
    process.exitCode = exitCodes.failed;
    reportError(new CommandUnfinishedError({}), terminal);
  });
  const listen = (stream: NodeJS.WriteStream, name: string) => {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") failure ??= new FileFailedError({ path: name }, error);
    });
  };
  listen(stdout, "standard output");
  listen(stderr, "standard error");
  return async (exitCode) => {
    isOver = true;
    await flush(stdout);
    // A failed command has already reported its error.
    // With --json too, it goes to standard error: standard output may be what cannot be written.
    if (failure !== undefined && exitCode !== exitCodes.failed)
      reportError(failure, { ...terminal, isJson: false });
    await flush(stderr);
    // A module of the project may keep the process alive, for example by an open database.
    process.exit(failure === undefined ? exitCode : exitCodes.failed);
  };
}

/** Waits for earlier output, and for the event of a failed write, which follows the callback. */
function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write("", () => setImmediate(resolve));
  });
}
