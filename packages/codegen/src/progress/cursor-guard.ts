const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Shows the cursor again if the process ends unexpectedly: on its exit, and on a signal that ends
 * it. If the program handles a signal itself, the guard ignores that signal.
 *
 * @param restore shows the cursor. It may be called more than once.
 * @returns a function that ends the guard.
 */
export function guardCursor(restore: () => void): () => void {
  let isReleased = false;
  const onSignal = (signal: NodeJS.Signals) => {
    // This listener is still called if another listener of the same signal has ended the guard.
    if (isReleased || process.listenerCount(signal) > 1) return;
    restore();
    release();
    process.kill(process.pid, signal);
  };
  const release = () => {
    isReleased = true;
    process.off("exit", restore);
    for (const signal of signals) process.off(signal, onSignal);
  };
  process.on("exit", restore);
  for (const signal of signals) process.on(signal, onSignal);
  return release;
}
