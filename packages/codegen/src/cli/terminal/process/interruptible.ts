import type { Terminal } from "../terminal.js";
import { interruptedExitCode } from "./exit-codes.js";

/** SIGHUP is sent when the terminal is closed. */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs a long operation. The first Ctrl-C or termination signal aborts `signal`, so that the
 * operation stops after the current batch. The second one ends the process at once.
 *
 * @param first the message at the first signal.
 */
export async function interruptible<T>(
  { stderr }: Terminal,
  run: (signal: AbortSignal) => Promise<T>,
  first = "Stopping after the current batch.",
): Promise<T> {
  const stopping = new AbortController();
  const stop = () => {
    if (stopping.signal.aborted) process.exit(interruptedExitCode);
    stopping.abort();
    stderr.write(`\n${first} Press Ctrl-C again to stop at once.\n`);
  };
  for (const signal of signals) process.on(signal, stop);
  try {
    return await run(stopping.signal);
  } finally {
    for (const signal of signals) process.off(signal, stop);
  }
}

/** Waits for the signal of {@link interruptible}. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    // Signals alone do not keep a process alive. The server does.
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
