import { type Round, watchAndGenerate } from "../../generate/watch.js";
import { interruptedExitCode } from "../terminal/process/exit-codes.js";
import { reportError } from "../terminal/report-error.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { wrapped } from "../terminal/text/wrap.js";
import { noteLines, summary } from "./generate-summary.js";

/** Ends after the current round at Ctrl-C or SIGTERM, or if the output has no reader. */
export async function generateWatch(terminal: Terminal, config: string | undefined): Promise<void> {
  const ending = new AbortController();
  const end = () => {
    // At the second signal the process exits at once, because loading a module may never end.
    if (ending.signal.aborted) process.exit(interruptedExitCode);
    ending.abort();
  };
  process.on("SIGINT", end);
  process.on("SIGTERM", end);
  try {
    await watchAndGenerate({
      folder: terminal.folder,
      config,
      signal: ending.signal,
      onRound: (round) => showRound(terminal, round, () => ending.abort()),
    });
  } finally {
    process.off("SIGINT", end);
    process.off("SIGTERM", end);
  }
}

function showRound(terminal: Terminal, round: Round, onUnread: () => void): void {
  const time = styled(terminal.stdout, "dim", new Date().toLocaleTimeString("en-GB"));
  if ("error" in round) reportError(round.error, terminal);
  else terminal.stderr.write(noteLines(terminal, round.result));
  const outcome = "error" in round ? "Failed. Nothing was written." : summary(round.result);
  const line = `${time} ${outcome} Waiting for changes. Ctrl-C stops.\n`;
  terminal.stdout.write(wrapped(terminal.stdout, line), (error) => {
    if (error && "code" in error && error.code === "EPIPE") onUnread();
  });
}
