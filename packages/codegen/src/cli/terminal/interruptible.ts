import { interrupted } from "./exit-codes.js";
import type { Terminal } from "./terminal.js";

/** SIGHUP: the terminal was closed. */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs something long. Ctrl-C, or a signal to end, asks it to stop behind the batch in hand; a second one ends the process at
 * once, which loses nothing but the batch.
 *
 * @param first what is said at the first of them.
 */
export async function interruptible<T>(
  { stderr }: Terminal,
  run: (signal: AbortSignal) => Promise<T>,
  first = "Stopping after the batch in hand.",
): Promise<T> {
  const stopping = new AbortController();
  const stop = () => {
    if (stopping.signal.aborted) process.exit(interrupted);
    stopping.abort();
    stderr.write(`\n${first} Ctrl-C again stops at once.\n`);
  };
  for (const signal of signals) process.on(signal, stop);
  try {
    return await run(stopping.signal);
  } finally {
    for (const signal of signals) process.off(signal, stop);
  }
}
