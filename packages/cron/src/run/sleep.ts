/** Waits for some milliseconds, or until the signal is aborted. Keeps the process running. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    // A fraction of a millisecond early, and the tick would not have come.
    const timer = setTimeout(end, Math.ceil(milliseconds));
    signal.addEventListener("abort", end);
  });
}
