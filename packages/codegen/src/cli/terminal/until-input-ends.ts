import type { Terminal } from "./terminal.js";

/**
 * Asks somebody by a prompt, which is cancelled where the input ends, as by Ctrl-D. By itself a prompt is cancelled by Ctrl-C
 * only, and then waits for what never comes.
 *
 * @param ask shows the prompt, which the signal cancels.
 */
export async function untilInputEnds<T>(
  { stdin }: Terminal,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  let isOver = false;
  // The input is paused when its reader closes: by the end, and by an answer, which is there before the next turn.
  const onPause = () => {
    setImmediate(() => {
      if (!isOver) ending.abort();
    });
  };
  stdin.on("pause", onPause);
  try {
    return await ask(ending.signal);
  } finally {
    isOver = true;
    stdin.off("pause", onPause);
  }
}
