import { type Round, watchAndGenerate } from "../generate/watch.js";
import { summary } from "./generate-summary.js";
import { reportError } from "./report-error.js";
import { styled, type Terminal } from "./terminal.js";

/** What a shell says of a process that Ctrl-C has ended. */
const interrupted = 130;

/** `keywright generate --watch`: comes to an end with Ctrl-C, or a signal to end, behind the round in hand. */
export async function generateWatch(terminal: Terminal, config: string | undefined): Promise<void> {
  const ending = new AbortController();
  const end = () => {
    // The second one: a module may never come to an end of loading.
    if (ending.signal.aborted) process.exit(interrupted);
    ending.abort();
  };
  process.on("SIGINT", end);
  process.on("SIGTERM", end);
  try {
    await watchAndGenerate({
      folder: terminal.folder,
      config,
      signal: ending.signal,
      onRound: (round) => showRound(terminal, round),
    });
  } finally {
    process.off("SIGINT", end);
    process.off("SIGTERM", end);
  }
}

/** One line, and an error before it where there was one. */
function showRound(terminal: Terminal, round: Round): void {
  const time = styled(terminal.stdout, "dim", new Date().toLocaleTimeString("en-GB"));
  if ("error" in round) reportError(round.error, terminal);
  const outcome = "error" in round ? "Failed; nothing was written." : summary(round.result);
  terminal.stdout.write(`${time} ${outcome} Waiting for changes; Ctrl-C ends.\n`);
}
