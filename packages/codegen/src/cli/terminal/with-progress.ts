import type { ProgressReporter } from "../../progress/reporter.js";
import { interruptible } from "./process/interruptible.js";
import type { Terminal } from "./terminal.js";

/** Ends the display at the first Ctrl-C, so that it does not overwrite the message. */
export async function withProgress<T, P>(
  terminal: Terminal,
  reporter: ProgressReporter<P>,
  run: (options: {
    readonly signal: AbortSignal;
    readonly onProgress: (progress: P) => void;
  }) => Promise<T>,
): Promise<T> {
  const { stop } = reporter;
  return await interruptible(terminal, async (signal) => {
    const onProgress = (progress: P) => {
      if (!signal.aborted) reporter.onProgress(progress);
    };
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await run({ signal, onProgress });
    } finally {
      stop();
    }
  });
}
