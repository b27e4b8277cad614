import type { Terminal } from "./terminal.js";

/** What a shell says of a process that Ctrl-C has ended. */
const interrupted = 130;

/**
 * Runs something long. Ctrl-C, or a signal to end, asks it to stop behind the batch in hand; a second one ends the process at
 * once, which loses nothing but the batch.
 */
export async function interruptible<T>(
  { stderr }: Terminal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stopping = new AbortController();
  const stop = () => {
    if (stopping.signal.aborted) process.exit(interrupted);
    stopping.abort();
    stderr.write("\nStopping after the batch in hand. Ctrl-C again stops at once.\n");
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  try {
    return await run(stopping.signal);
  } finally {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
  }
}
