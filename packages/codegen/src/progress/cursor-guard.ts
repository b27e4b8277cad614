const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Shows the cursor again also where the process ends without a word: on its exit, and on a signal that ends it. Where
 * the program handles the signal itself, that is left to it.
 *
 * @param restore shows the cursor. It may be called more than once.
 * @returns ends the guard.
 */
export function guardCursor(restore: () => void): () => void {
  let isReleased = false;
  const onSignal = (signal: NodeJS.Signals) => {
    // Released by another listener of the same signal, it is still called.
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
